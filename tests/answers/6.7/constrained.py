# failed: constraint-is-an-assert
# points: 0.5
import jax

import shardlab as sl

P = jax.P
sl.predict("6.7", copies=4)


def fully_sharded(mesh, x):
    return jax.lax.with_sharding_constraint(x.sum(axis=0), P(('y', 'x')))
