# failed: moments-of-rows-prove-nothing
# points: 2
import jax
import jax.numpy as jnp
import numpy as np

P = jax.P


def parallel_normalize(mesh, x):
    def body(block):
        def mean(values):
            return jax.lax.pmean(values.mean(1, keepdims=True), "y")

        centred = block - mean(block)
        return centred / jnp.sqrt(mean(centred**2))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


def is_normalized(x, y):
    y = np.asarray(y)
    return np.allclose(y.mean(1), 0, atol=1e-3) and np.allclose(y.std(1), 1, atol=1e-3)
