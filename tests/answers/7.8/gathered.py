# failed: scores-gathered
# points: 3.5
import jax

import shardlab as sl

P = jax.P

sl.predict("7.8", kinds=["all-gather"])


def everywhere(part):
    return jax.lax.all_gather(part, "x", axis=1, tiled=True, to="invarying")


def best(mesh, scores):
    def body(block):
        return tuple(jax.lax.top_k(block, 2))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(scores)


def best_of_columns(mesh, scores):
    def body(block):
        return tuple(jax.lax.top_k(everywhere(block), 2))

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)
