# failed: gathers-everything
# points: 2
import jax
import jax.numpy as jnp

def poisson(mesh, density):
    k0, k1 = (2 * jnp.pi * jnp.fft.fftfreq(n) for n in density.shape)
    square = k0[:, None] ** 2 + k1[None, :] ** 2
    factor = jnp.where(square == 0, 0, -1 / jnp.where(square == 0, 1, square))
    return jnp.fft.ifft2(jnp.fft.fft2(density) * factor).real
