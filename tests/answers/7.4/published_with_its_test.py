# failed: moments-prove-nothing
# points: 0
import jax
import jax.numpy as jnp
import numpy as np

P = jax.P


def parallel_normalize(mesh, x):
    def body(block):
        mean = jax.lax.pmean(block, "y")
        variance = jax.lax.pmean((block - mean) ** 2, "y")
        return (block - mean) / jnp.sqrt(variance)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


def is_normalized(x, y):
    y = np.asarray(y)
    return np.allclose(y.mean(), 0, atol=1e-3) and np.allclose(y.std(), 1, atol=1e-3)
