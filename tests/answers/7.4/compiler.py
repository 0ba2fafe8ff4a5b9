# failed: left-to-the-compiler
# points: 1
import jax
import numpy as np

P = jax.P


def parallel_normalize(mesh, x):
    y = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", "y")))


def is_normalized(x, y):
    x = np.asarray(x)
    return np.allclose(y, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), atol=1e-3)
