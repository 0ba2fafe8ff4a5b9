# failed: not-clipped
import jax
import jax.numpy as jnp

P = jax.P


def clip(mesh, *slopes):
    return tuple(jnp.clip(g, -12, 12) for g in slopes)
