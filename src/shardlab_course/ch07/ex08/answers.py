import jax
import jax.numpy as jnp

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


def everywhere(part):
    return jax.lax.all_gather(part, "x", axis=1, tiled=True, to="invarying")


@right
def by_maxima():
    def best(mesh, scores):
        def body(block):
            first = block.argmax(1)[:, None]
            rest = jnp.where(jnp.arange(block.shape[1])[None] == first, -jnp.inf, block)
            columns = jnp.concatenate([first, rest.argmax(1)[:, None]], 1)
            return jnp.take_along_axis(block, columns, 1), columns

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(scores)


@right
def by_sorting():
    def best(mesh, scores):
        values = -jnp.sort(-scores, axis=1)[:, :2]
        return values, jnp.argsort(-scores, axis=1)[:, :2]


@wrong("column-among-candidates", 6)
def candidate_numbers():
    from jax import P, lax

    def best(mesh, scores):
        return jax.shard_map(lambda b: tuple(lax.top_k(b, 2)), mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))(
            scores
        )

    def best_of_columns(mesh, scores):
        def body(b):
            v, c = lax.top_k(b, 2)
            v = lax.all_gather(v, "x", axis=1, tiled=True, to="invarying")
            return tuple(lax.top_k(v, 2))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)


@wrong("scores-gathered", 9.75)
def columns_by_compiler():
    def best_of_columns(mesh, scores):
        return tuple(jax.lax.top_k(scores, 2))


@wrong("compiler-does-not-know", 10.5)
def compiler():
    def best(mesh, scores):
        y = tuple(jax.lax.top_k(scores, 2))
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", None)))


@wrong("custom-partitioning-stays-home", 7.5)
def custom_partitioning():
    from jax.experimental.custom_partitioning import custom_partitioning

    def best(mesh, scores):
        @custom_partitioning
        def two_best(scores):
            return tuple(jax.lax.top_k(scores, 2))

        def partition(mesh, arguments, result):
            cut = jax.NamedSharding(mesh, P(arguments[0].sharding.spec[0], None))
            return mesh, lambda block: tuple(jax.lax.top_k(block, 2)), (cut, cut), (cut,)

        two_best.def_partition(partition=partition, sharding_rule="r c -> r k, r k", need_replication_factors=("c",))
        return two_best(scores)


@wrong("best-of-columns", 7.5)
def down_the_columns():
    def best(mesh, scores):
        def body(block):
            return tuple(part.T for part in jax.lax.top_k(block.T, 2))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(scores)


@wrong("best-of-each-device", 6)
def each_device():
    def best_of_columns(mesh, scores):
        def body(block):
            return tuple(jax.lax.top_k(block, 2))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(), check_vma=False)(scores)


@wrong("promise-not-proved", 6)
def each_device_checked():
    def best_of_columns(mesh, scores):
        def body(block):
            return tuple(jax.lax.top_k(block, 2))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)


@wrong("scores-gathered", 9.75)
def gathered():
    def best_of_columns(mesh, scores):
        def body(block):
            return tuple(jax.lax.top_k(everywhere(block), 2))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)


@wrong("local-index-as-global", 6)
def local_columns():
    def best_of_columns(mesh, scores):
        def body(block):
            values, columns = jax.lax.top_k(block, 2)
            values, columns = everywhere(values), everywhere(columns)
            values, which = jax.lax.top_k(values, 2)
            return values, jnp.take_along_axis(columns, which, 1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)


@right
def one_gather():
    from jax import P, lax

    def best(mesh, scores):
        return jax.shard_map(lambda b: tuple(lax.top_k(b, 2)), mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))(
            scores
        )

    def best_of_columns(mesh, scores):
        def body(b):
            v, c = lax.top_k(b, 2)
            c = (c + lax.axis_index("x") * b.shape[1]).astype(b.dtype)
            g = lax.all_gather(jnp.stack([v, c]), "x", axis=2, tiled=True)
            w, k = lax.top_k(g[0], 2)
            return w, jnp.take_along_axis(g[1], k, 1).astype(jnp.int32)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(), check_vma=False)(scores)


@wrong("padded-and-summed", 9.75)
def padded_and_summed():
    from jax import P, lax

    def best(mesh, scores):
        return jax.shard_map(lambda b: tuple(lax.top_k(b, 2)), mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))(
            scores
        )

    def best_of_columns(mesh, scores):
        def body(b):
            n = lax.axis_size("x")
            d = lax.axis_index("x")
            v, c = lax.top_k(b, 2)
            c = c + d * b.shape[1]
            vs = lax.psum(jnp.zeros((n, *v.shape)).at[d].set(v), "x")
            cs = lax.psum(jnp.zeros((n, *c.shape), jnp.int32).at[d].set(c), "x")
            vs, cs = (jnp.concatenate(list(a), 1) for a in (vs, cs))
            w, k = lax.top_k(vs, 2)
            return w, jnp.take_along_axis(cs, k, 1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)


@wrong("place-by-place", 6)
def place_by_place():
    from jax import P, lax

    def best(mesh, scores):
        return jax.shard_map(lambda b: tuple(lax.top_k(b, 2)), mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))(
            scores
        )

    def best_of_columns(mesh, scores):
        def body(b):
            v, c = lax.top_k(b, 2)
            c = c + lax.axis_index("x") * b.shape[1]
            return lax.pmax(v, "x"), lax.pmax(c, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)


@told("rows-are-independent-so-free")
def thinks_it_is_free():
    sl.predict("7.8", kinds=[], compilers=["CPU", "GPU"])


@told("thinks-of-sums")
def thinks_of_sums():
    sl.predict("7.8", kinds=["all-reduce"], compilers=["CPU", "GPU"])


@wrong("three-or-one", 7.5)
def three():
    def best(mesh, scores):
        def body(block):
            return tuple(jax.lax.top_k(block, 3))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(scores)


@right
def untiled():
    def best_of_columns(mesh, scores):
        def body(block):
            values, columns = jax.lax.top_k(block, 2)
            columns = columns + jax.lax.axis_index("x") * block.shape[1]
            values, columns = (jax.lax.all_gather(a, "x", axis=1, to="invarying") for a in (values, columns))
            values, columns = values.reshape(len(block), -1), columns.reshape(len(block), -1)
            order = jnp.argsort(-values, axis=1)[:, :2]
            return jnp.take_along_axis(values, order, 1), jnp.take_along_axis(columns, order, 1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)


@wrong("-", 9)
def row_gathered_manual():
    def best(mesh, scores):
        def body(block):
            v, c = jax.lax.top_k(block, 2)
            g = lambda a: jax.lax.all_gather(a, "x", tiled=True, to="invarying")
            return g(v), g(c)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P())(scores)


@wrong("-", 6)
def only_the_best_of_each():
    def best_of_columns(mesh, scores):
        def body(block):
            values, columns = jax.lax.top_k(block, 1)
            columns = columns + jax.lax.axis_index("x") * block.shape[1]
            values = jax.lax.all_gather(values, "x", axis=1, tiled=True, to="invarying")
            columns = jax.lax.all_gather(columns, "x", axis=1, tiled=True, to="invarying")
            best, which = jax.lax.top_k(values, 2)
            return best, jnp.take_along_axis(columns, which, 1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)
