# failed: array-moved
# points: 1.5
import jax

import shardlab as sl

P = jax.P
sl.predict("6.7", copies=4)


def fully_sharded(mesh, x):
    return jax.reshard(x, P(None, ("y", "x"))).sum(axis=0)
