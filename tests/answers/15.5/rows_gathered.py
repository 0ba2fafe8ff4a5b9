# failed: rows-travel
# points: 0.5
import jax
import jax.numpy as jnp

P = jax.P


def mended_2(mesh, x, w):
    def body(x, w):
        out = jnp.tanh(jax.lax.all_gather(x, "data", tiled=True) @ w)
        return jax.lax.dynamic_slice_in_dim(out, jax.lax.axis_index("data") * len(x), len(x))

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"))(x, w)
