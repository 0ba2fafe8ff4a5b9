# passed
import jax
import jax.numpy as jnp

from jax import P, lax


def slab_fft(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        block = jnp.fft.fft(block)
        parts = jnp.stack(jnp.split(block, n, axis=1))
        mine = lax.all_to_all(parts, "x", 0, 0)
        return jnp.fft.fft(jnp.concatenate(list(mine)), axis=0)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)
