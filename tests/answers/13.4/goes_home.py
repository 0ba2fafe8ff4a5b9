# failed: goes-home-in-between
# points: 2
import jax
import jax.numpy as jnp

from jax import P, lax


def poisson(mesh, density):
    k0, k1 = (2 * jnp.pi * jnp.fft.fftfreq(n) for n in density.shape)

    def transform(block, one):
        waves = lax.all_to_all(one(block, axis=1), "x", 1, 0, tiled=True)
        return lax.all_to_all(one(waves, axis=0), "x", 0, 1, tiled=True)

    def body(block, k0):
        waves = transform(block, jnp.fft.fft)
        square = k0[:, None] ** 2 + k1[None, :] ** 2
        waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
        return transform(waves, jnp.fft.ifft).real

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k0)
