# failed: column-among-candidates
# points: 2
import jax
from jax import P, lax

import shardlab as sl

sl.predict("7.8", kinds=["all-gather"])


def best(mesh, scores):
    return jax.shard_map(lambda b: tuple(lax.top_k(b, 2)), mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))(scores)


def best_of_columns(mesh, scores):
    def body(b):
        v, c = lax.top_k(b, 2)
        v = lax.all_gather(v, "x", axis=1, tiled=True, to="invarying")
        return tuple(lax.top_k(v, 2))

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)
