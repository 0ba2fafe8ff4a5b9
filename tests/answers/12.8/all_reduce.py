# failed: summed-instead-of-gathered
# points: 3
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P


predictions = sl.predict("12.8", first="SyntaxError", second="AttributeError", decides="d")


def overlapped(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d = jax.lax.axis_index("x")
        y = jnp.zeros((n * len(x), x.shape[1]))
        y = jax.lax.dynamic_update_slice_in_dim(y, x, d * len(x), 0)
        return (x @ w) @ jax.lax.psum(y, "x").T

    specs = (P("x", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
