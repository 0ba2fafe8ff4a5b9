# passed
import jax
import numpy as np
from jax import P, lax


def is_normalized(x, y):
    x = np.array(x)
    want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
    return bool(np.abs(want - np.array(y)).max() < 1e-2)


def parallel_normalize(mesh, x):
    def body(b):
        n = b.shape[1] * lax.axis_size("y")
        s = lax.psum(b.sum(1), "y") / n
        q = lax.psum((b * b).sum(1), "y") / n
        return (b - s[:, None]) * lax.rsqrt(q - s**2)[:, None]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)
