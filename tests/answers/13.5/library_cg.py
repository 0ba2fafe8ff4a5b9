# failed: rounds-unknown
import jax
import jax.numpy as jnp
import shardlab as sl

sl.predict("13.5", loop={"gathered": 256, "runs": 19, "bytes": 1588})


def cg(mesh, A, b):
    x, _ = jax.scipy.sparse.linalg.cg(lambda v: A @ v, b, maxiter=6, tol=0.0)
    return x
