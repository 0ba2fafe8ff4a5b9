# failed: upper-factor
# points: 1
import jax
import jax.numpy as jnp
from jax import P, lax


def cholesky(mesh, A):
    return jnp.linalg.cholesky(A, upper=True)


def solve_stack(mesh, A, b):
    return jnp.linalg.solve(A + 16 * jnp.eye(A.shape[-1]), b[..., None])[..., 0]
