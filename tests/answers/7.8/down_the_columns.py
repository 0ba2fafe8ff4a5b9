# failed: best-of-columns
# points: 3
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P

sl.predict("7.8", kinds=["all-gather"])


def everywhere(part):
    return jax.lax.all_gather(part, "x", axis=1, tiled=True, to="invarying")


def best(mesh, scores):
    def body(block):
        return tuple(part.T for part in jax.lax.top_k(block.T, 2))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(scores)


def best_of_columns(mesh, scores):
    def body(block):
        values, columns = jax.lax.top_k(block, 2)
        columns = columns + jax.lax.axis_index("x") * block.shape[1]
        values, columns = everywhere(values), everywhere(columns)
        values, which = jax.lax.top_k(values, 2)
        return values, jnp.take_along_axis(columns, which, 1)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)
