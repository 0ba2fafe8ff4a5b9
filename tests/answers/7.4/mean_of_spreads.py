# failed: mean-of-spreads
# points: 1
import jax
import numpy as np
from jax import P, lax


def is_normalized(x, y):
    x = np.array(x)
    want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
    return bool(np.abs(want - np.array(y)).max() < 1e-2)


def parallel_normalize(mesh, x):
    def body(b):
        m = lax.pmean(b.mean(1, keepdims=True), "y")
        s = lax.pmean(b.std(1, keepdims=True), "y")
        return (b - m) / s

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)
