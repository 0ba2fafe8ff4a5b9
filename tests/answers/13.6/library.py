# failed: gathers-the-matrix
import jax
import jax.numpy as jnp

from jax.sharding import NamedSharding


def cholesky(mesh, A):
    return jax.lax.with_sharding_constraint(jnp.linalg.cholesky(A), NamedSharding(mesh, jax.P("x")))


def solve_stack(mesh, A, b):
    return jnp.linalg.solve(A + 16 * jnp.eye(A.shape[-1]), b[..., None])[..., 0]
