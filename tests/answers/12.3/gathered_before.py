# failed: uses-a-finished-collective
# points: 2.25
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P


predictions = sl.predict("12.3", lines={"unrolled": 7, "loop": 1, "bytes": 1})


def looped(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d, k = jax.lax.axis_index("x"), x.shape[1]

        def part(x, i):
            return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

        xs = jax.lax.all_gather(x, "x")

        def step(i, t):
            return t + xs[i] @ jax.lax.dynamic_slice_in_dim(w, i * k, k)

        z = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
        return jax.lax.fori_loop(0, n, step, z)

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
