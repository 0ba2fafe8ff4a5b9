# failed: root-forgotten
import jax
import jax.numpy as jnp

P = jax.P


def clip(mesh, *slopes):
    n = sum(jnp.sum(g * g) for g in slopes)
    return tuple(g * jnp.minimum(1, 12 / n) for g in slopes)
