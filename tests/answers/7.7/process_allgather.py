# failed: brought-to-the-host
# points: 0
import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils

P = jax.P


def solves(mesh, A, b):
    matrices = A + 16 * jnp.eye(A.shape[-1])[None]
    return multihost_utils.process_allgather(jax.vmap(jnp.linalg.solve)(matrices, b))
