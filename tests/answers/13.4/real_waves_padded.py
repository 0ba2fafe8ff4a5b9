# passed
import jax
import jax.numpy as jnp
from jax import P, lax


def poisson(mesh, density):
    n, m = density.shape
    waves, devices = m // 2 + 1, mesh.shape["x"]
    room = -waves % devices
    k0 = 2 * jnp.pi * jnp.fft.fftfreq(n)
    k1 = jnp.pad(2 * jnp.pi * jnp.fft.rfftfreq(m), (0, room))

    def body(block, k1):
        half = jnp.pad(jnp.fft.rfft(block, axis=1), ((0, 0), (0, room)))
        half = jnp.fft.fft(lax.all_to_all(half, "x", 1, 0, tiled=True), axis=0)
        square = k0[:, None] ** 2 + k1[None, :] ** 2
        half = jnp.where(square == 0, 0, -half / jnp.where(square == 0, 1, square))
        half = lax.all_to_all(jnp.fft.ifft(half, axis=0), "x", 0, 1, tiled=True)
        return jnp.fft.irfft(half[:, :waves], n=m, axis=1)

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)
