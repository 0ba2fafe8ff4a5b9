# failed: panels-by-sum
# points: 4
import jax
import jax.numpy as jnp
from jax import P, lax
from jax.scipy.linalg import solve_triangular


def cholesky(mesh, A):
    n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

    def body(A):
        me = lax.axis_index("x")

        def round(s, A):
            block = lax.dynamic_slice_in_dim(A, s * k, k, axis=1)
            L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, block, 0), "x"))
            mine = solve_triangular(L, block.T, lower=True).T
            mine = jnp.where(me >= s, mine, 0)
            panel = lax.dynamic_update_slice_in_dim(jnp.zeros((n, k)), mine, me * k, axis=0)
            panel = lax.psum(panel, "x")
            A = A - mine @ panel.T
            return lax.dynamic_update_slice_in_dim(A, mine, s * k, axis=1)

        return lax.fori_loop(0, n // k, round, A)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


def solve_stack(mesh, A, b):
    return jnp.linalg.solve(A + 16 * jnp.eye(A.shape[-1]), b[..., None])[..., 0]
