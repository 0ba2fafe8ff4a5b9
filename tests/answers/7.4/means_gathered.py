# failed: results-gathered
# points: 2.5
import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def is_normalized(x, y):
    x = np.array(x)
    want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
    return bool(np.abs(want - np.array(y)).max() < 1e-2)


def parallel_normalize(mesh, x):
    def body(b):
        def mean(v):
            return lax.all_gather(v.mean(1), "y").mean(0)[:, None]

        c = b - mean(b)
        return c / jnp.sqrt(mean(c**2))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)
