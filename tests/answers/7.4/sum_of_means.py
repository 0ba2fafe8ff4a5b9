# failed: sum-of-means
# points: 1
import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def is_normalized(x, y):
    return bool(
        np.allclose(np.array(y).mean(1), 0, atol=1e-3)
        and np.allclose(np.array(y).std(1), 1, atol=1e-3)
        and np.all(np.argsort(x) == np.argsort(y))
    )


def parallel_normalize(mesh, x):
    def body(b):
        m = lax.psum(b.mean(1, keepdims=True), "y")
        c = b - m
        return c / jnp.sqrt(lax.psum((c**2).mean(1, keepdims=True), "y"))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)
