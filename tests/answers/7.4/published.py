# failed: pmean-is-mean
# points: 1
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
    x = np.asarray(x)
    return np.allclose(y, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), atol=1e-3)
