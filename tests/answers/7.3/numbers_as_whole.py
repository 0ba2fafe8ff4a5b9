# passed
# points: 3
import jax

import shardlab as sl

P = jax.P

sl.predict("7.3", checked="ValueError", unchecked=[0, 1], true_on=1)


def honest(mesh, x):
    def body(block):
        return jax.lax.all_gather(block, "x", tiled=True, to="invarying")

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)
