# failed: left-to-the-compiler
import jax
import jax.numpy as jnp
from jax import P, lax
from jax.scipy.linalg import solve_triangular


def cholesky(mesh, A):
    n, k = A.shape[0], A.shape[0] // mesh.shape["x"]
    for s in range(n // k):
        columns = slice(s * k, (s + 1) * k)
        L = jnp.linalg.cholesky(A[columns, columns])
        panel = solve_triangular(L, A[:, columns].T, lower=True).T.at[: s * k].set(0)
        A = (A - panel @ panel.T).at[:, columns].set(panel)
    return A


def solve_stack(mesh, A, b):
    return jnp.linalg.solve(A + 16 * jnp.eye(A.shape[-1]), b[..., None])[..., 0]
