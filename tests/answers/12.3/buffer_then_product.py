# failed: moves-first-then-multiplies
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

        def step(i, state):
            whole, x = state
            x = jax.lax.ppermute(x, "x", ring(n, -1))
            return jax.lax.dynamic_update_slice_in_dim(whole, x, (d + i) % n * k, 1), x

        whole = jax.lax.pcast(jnp.zeros((x.shape[0], n * k)), "x", to="varying")
        whole = jax.lax.dynamic_update_slice_in_dim(whole, x, d * k, 1)
        return jax.lax.fori_loop(1, n, step, (whole, x))[0] @ w

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
