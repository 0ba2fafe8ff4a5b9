# failed: left-to-the-compiler
# points: 1.5
import jax

import shardlab as sl

P = jax.P

sl.predict("7.3", checked="ValueError", unchecked=[0.0, 1.0], true_on=1)


def honest(mesh, x):
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))
