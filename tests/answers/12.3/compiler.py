# failed: left-to-the-compiler
# points: 0.75
import jax

import shardlab as sl

P = jax.P


predictions = sl.predict("12.3", lines={"unrolled": 7, "loop": 1, "bytes": 1})


def looped(mesh, X, W):
    return jax.lax.with_sharding_constraint(X @ W, jax.NamedSharding(mesh, P(None, "x")))
