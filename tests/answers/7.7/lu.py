# passed
import jax
import jax.numpy as jnp
from jax import P


def solves(mesh, A, b):
    n = A.shape[-1]
    s = P(tuple(mesh.axis_names))
    f = jax.vmap(lambda m, v: jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(m), v))
    return jax.shard_map(f, mesh=mesh, in_specs=(s, s), out_specs=s)(A + 16 * jnp.eye(n), b)
