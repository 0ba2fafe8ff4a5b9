# failed: most-waits-for-the-last-hop
# points: 2.25
import jax
import jax.numpy as jnp

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

        def step(x, _):
            x = jax.lax.ppermute(x, "x", ring(n, -1))
            return x, x

        _, came = jax.lax.scan(step, x, None, length=n - 1)

        def add(t, ix):
            return t + part(ix[1], ix[0]), None

        return jax.lax.scan(add, part(x, 0), (jnp.arange(1, n), came))[0]

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
