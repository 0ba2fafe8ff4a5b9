# passed
# points: 3
import jax
import jax.numpy as jnp
import numpy as np

P = jax.P


def parallel_normalize(mesh, x):
    def body(block):
        both = jnp.stack([block.mean(1), (block**2).mean(1)])
        mean, square = jax.lax.pmean(both, "y")[:, :, None]
        return (block - mean) / jnp.sqrt(square - mean**2)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


def is_normalized(x, y):
    x = np.asarray(x)
    return np.allclose(y, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), atol=1e-3)
