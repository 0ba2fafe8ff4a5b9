# failed: everyone-solves-all
# points: 1
import jax
import jax.numpy as jnp

P = jax.P


def solves(mesh, A, b):
    matrices = A + 16 * jnp.eye(A.shape[-1])[None]
    return jax.lax.map(lambda pair: jnp.linalg.solve(*pair), (matrices, b))
