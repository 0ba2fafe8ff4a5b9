# failed: sends-all-it-has
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

        whole = jax.lax.pcast(jnp.zeros((x.shape[0], n * k)), "x", to="varying")

        def step(i, s):
            t, whole = s
            whole = jax.lax.dynamic_update_slice_in_dim(whole, x, d * k, 1)
            whole = jax.lax.ppermute(whole, "x", ring(n, -1))
            chunk = jax.lax.dynamic_slice_in_dim(whole, (d + i) % n * k, k, 1)
            return t + part(chunk, i), whole

        whole = jax.lax.dynamic_update_slice_in_dim(whole, x, d * k, 1)
        return jax.lax.fori_loop(1, n, step, (part(x, 0), whole))[0]

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
