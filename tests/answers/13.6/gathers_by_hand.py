# failed: gathers-the-matrix
import jax
import jax.numpy as jnp
from jax import P, lax
from jax.scipy.linalg import solve_triangular


def cholesky(mesh, A):
    def body(A):
        L = jnp.linalg.cholesky(lax.all_gather(A, "x", tiled=True))
        return lax.dynamic_slice_in_dim(L, lax.axis_index("x") * len(A), len(A))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


def solve_stack(mesh, A, b):
    return jnp.linalg.solve(A + 16 * jnp.eye(A.shape[-1]), b[..., None])[..., 0]
