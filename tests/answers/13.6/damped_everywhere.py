# failed: damped-everywhere
# points: 4
import jax
import jax.numpy as jnp
from jax import P, lax
from jax.scipy.linalg import solve_triangular


def cholesky(mesh, A):
    n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

    def body(A):
        me = lax.axis_index("x")
        for s in range(n // k):
            columns = slice(s * k, (s + 1) * k)
            L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, A[:, columns], 0), "x"))
            mine = jnp.where(me >= s, solve_triangular(L, A[:, columns].T, lower=True).T, 0)
            panel = lax.all_gather(mine, "x", tiled=True)
            A = (A - mine @ panel.T).at[:, columns].set(mine)
        return A

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


def solve_stack(mesh, A, b):
    return jnp.linalg.solve(A + 16, b[..., None])[..., 0]
