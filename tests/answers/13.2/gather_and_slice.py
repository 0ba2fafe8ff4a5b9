# failed: gathers-everything
# points: 2
import jax
import jax.numpy as jnp

from jax import P, lax


def slab_fft(mesh, x):
    def body(block):
        whole = jnp.fft.fft2(lax.all_gather(block, "x", tiled=True))
        width = whole.shape[1] // mesh.shape["x"]
        return lax.dynamic_slice_in_dim(whole, lax.axis_index("x") * width, width, axis=1)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)
