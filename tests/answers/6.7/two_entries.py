# failed: two-entries
# points: 0.5
import jax

import shardlab as sl

P = jax.P
sl.predict("6.7", copies=4)


def fully_sharded(mesh, x):
    return jax.reshard(x.sum(axis=0), P("x", "y"))
