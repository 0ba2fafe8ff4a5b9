# failed: one-system-only
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def solves(mesh, A, b):
    matrices = A + 16 * jnp.eye(A.shape[-1])[None]
    return jnp.linalg.solve(matrices[0], b[0])
