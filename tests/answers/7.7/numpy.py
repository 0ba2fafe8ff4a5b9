# failed: brought-to-the-host
# points: 0
import jax
import jax.numpy as jnp
import numpy as np

P = jax.P


def solves(mesh, A, b):
    matrices = A + 16 * jnp.eye(A.shape[-1])[None]
    return np.linalg.solve(matrices, b[..., None])[..., 0]
