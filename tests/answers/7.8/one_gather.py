# passed
import jax
import jax.numpy as jnp
from jax import P, lax

import shardlab as sl

sl.predict("7.8", kinds=["all-gather"])


def best(mesh, scores):
    return jax.shard_map(lambda b: tuple(lax.top_k(b, 2)), mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))(scores)


def best_of_columns(mesh, scores):
    def body(b):
        v, c = lax.top_k(b, 2)
        c = (c + lax.axis_index("x") * b.shape[1]).astype(b.dtype)
        g = lax.all_gather(jnp.stack([v, c]), "x", axis=2, tiled=True)
        w, k = lax.top_k(g[0], 2)
        return w, jnp.take_along_axis(g[1], k, 1).astype(jnp.int32)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(), check_vma=False)(scores)
