# failed: custom-partitioning-stays-home
# points: 3
import jax
import jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning

import shardlab as sl

P = jax.P

sl.predict("7.8", kinds=["all-gather"])


def everywhere(part):
    return jax.lax.all_gather(part, "x", axis=1, tiled=True, to="invarying")


def best(mesh, scores):
    @custom_partitioning
    def two_best(scores):
        return tuple(jax.lax.top_k(scores, 2))

    def partition(mesh, arguments, result):
        cut = jax.NamedSharding(mesh, P(arguments[0].sharding.spec[0], None))
        return mesh, lambda block: tuple(jax.lax.top_k(block, 2)), (cut, cut), (cut,)

    two_best.def_partition(partition=partition, sharding_rule="r c -> r k, r k", need_replication_factors=("c",))
    return two_best(scores)


def best_of_columns(mesh, scores):
    def body(block):
        values, columns = jax.lax.top_k(block, 2)
        columns = columns + jax.lax.axis_index("x") * block.shape[1]
        values, columns = everywhere(values), everywhere(columns)
        values, which = jax.lax.top_k(values, 2)
        return values, jnp.take_along_axis(columns, which, 1)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)
