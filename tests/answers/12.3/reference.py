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

        def rows(i):
            return jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

        def step(i, state):
            total, x = state
            return total + x @ rows(i), jax.lax.ppermute(x, "x", ring(n, -1))

        zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
        total, x = jax.lax.fori_loop(0, n - 1, step, (zeros, x))
        return total + x @ rows(n - 1)

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
