# failed: gathers-everything
# points: 2.5
import jax
import numpy as np

P = jax.P


def parallel_normalize(mesh, x):
    def body(block):
        row = jax.lax.all_gather(block, "y", axis=1, tiled=True)
        return (block - row.mean(1, keepdims=True)) / row.std(1, keepdims=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


def is_normalized(x, y):
    x = np.asarray(x)
    return np.allclose(y, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), atol=1e-3)
