# failed: diagonal-blocks-only
# points: 1
import jax
import jax.numpy as jnp
from jax import P, lax
from jax.scipy.linalg import solve_triangular


def cholesky(mesh, A):
    def body(A):
        k = len(A)
        start = lax.axis_index("x") * k
        L = jnp.linalg.cholesky(lax.dynamic_slice_in_dim(A, start, k, axis=1))
        return lax.dynamic_update_slice_in_dim(jnp.zeros_like(A), L, start, axis=1)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


def solve_stack(mesh, A, b):
    return jnp.linalg.solve(A + 16 * jnp.eye(A.shape[-1]), b[..., None])[..., 0]
