# failed: place-by-place
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
        c = c + lax.axis_index("x") * b.shape[1]
        return lax.pmax(v, "x"), lax.pmax(c, "x")

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)
