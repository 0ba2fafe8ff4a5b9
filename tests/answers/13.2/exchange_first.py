# failed: cut-dimension-transformed
# points: 0
import jax
import jax.numpy as jnp
from jax import P, lax


def slab_fft(mesh, x):
    def body(block):
        block = lax.all_to_all(block, "x", 1, 0, tiled=True)
        return jnp.fft.fft2(block)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)
