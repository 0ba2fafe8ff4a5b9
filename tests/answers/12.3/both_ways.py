# failed: no-loop-left
# points: 2.25
import jax

import shardlab as sl

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


predictions = sl.predict("12.3", lines={"unrolled": 7, "loop": 1, "bytes": 1})


def looped(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d, k = jax.lax.axis_index("x"), x.shape[1]

        def part(x, i):
            return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

        def step(i, s):
            t, r, l = s
            r, l = jax.lax.ppermute(r, "x", ring(n, 1)), jax.lax.ppermute(l, "x", ring(n, -1))
            return t + part(r, -i) + part(l, i), r, l

        h = (n - 1) // 2
        t, r, l = jax.lax.fori_loop(1, h + 1, step, (part(x, 0), x, x))
        return t + part(jax.lax.ppermute(r, "x", ring(n, 1)), -h - 1) if n % 2 == 0 else t

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
