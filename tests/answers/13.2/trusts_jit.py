# failed: gathers-everything
# points: 1
import jax
import jax.numpy as jnp

def slab_fft(mesh, x):
    return jnp.fft.fft2(x)
