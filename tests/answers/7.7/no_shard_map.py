# passed
# points: 2
import jax
import jax.numpy as jnp

P = jax.P


def solves(mesh, A, b):
    matrices = A + 16 * jnp.eye(A.shape[-1])[None]
    return jax.vmap(jnp.linalg.solve)(matrices, b)
