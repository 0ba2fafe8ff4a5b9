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
        total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
        for i in range(1, n):
            x = jax.lax.ppermute(x, "x", ring(n, -1))
            total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
        return total

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
