# failed: not-tiled
# points: 0
import jax
import jax.numpy as jnp
from jax import P, lax


def poisson(mesh, density):
    n, m = density.shape
    k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

    def body(block, k1):
        waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0)
        waves = jnp.fft.fft(waves, axis=0)
        square = k0[:, None] ** 2 + k1[None, :] ** 2
        waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
        waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1)
        return jnp.fft.ifft(waves, axis=1).real

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)
