# passed
# points: 3.75
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

        def step(state, i):
            total, x = state
            part = jax.lax.dynamic_slice_in_dim(w, (d - i) % n * k, k)
            return (total + x @ part, jax.lax.ppermute(x, "x", ring(n, 1))), None

        (total, x), _ = jax.lax.scan(step, (x @ w[:k] * 0, x), jnp.arange(n - 1))
        return total + x @ jax.lax.dynamic_slice_in_dim(w, (d + 1) % n * k, k)

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
