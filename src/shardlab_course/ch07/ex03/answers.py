import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@told("gathered-for-you")
def all_gathered():
    sl.predict("7.3", checked="ValueError", unchecked=list(range(16)), true_on=1, why="b")


@told("believes-the-sharding")
def believes():
    sl.predict("7.3", checked="ValueError", unchecked=[0.0, 1.0], true_on=8, why="b")


@right
def check_off():
    def honest(mesh, x):
        def body(block):
            return jax.lax.all_gather(block, "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("left-to-the-compiler", 3)
def compiler():
    def honest(mesh, x):
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))


@wrong("promise-not-proved", 3)
def identity():
    def honest(mesh, x):
        def body(block):
            return block

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@wrong("first-shard-only", 3)
def identity_unchecked():
    def honest(mesh, x):
        def body(block):
            return block

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@told("last-shard-shown")
def last():
    sl.predict("7.3", checked="ValueError", unchecked=[14.0, 15.0], true_on=1, why="b")


@told("lie-not-noticed")
def not_noticed():
    sl.predict("7.3", checked=[0.0, 1.0], unchecked=[0.0, 1.0], true_on=1, why="b")


@right
def numbers_as_whole():
    sl.predict("7.3", checked="ValueError", unchecked=[0, 1], true_on=1, why="b")


@wrong("sums-padded-blocks", 5)
def padded_sum():
    import jax.numpy as jnp

    def honest(mesh, x):
        def body(block):
            whole = jnp.zeros(block.shape[0] * mesh.shape["x"], block.dtype)
            start = jax.lax.axis_index("x") * block.shape[0]
            padded = jax.lax.dynamic_update_slice(jax.lax.pcast(whole, "x", to="varying"), block, (start,))
            return jax.lax.psum(padded, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@wrong("blocks-repeated", 3)
def repeated():
    def honest(mesh, x):
        def body(block):
            return jax.lax.all_gather(block, "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@told("out-specs-sums")
def summed():
    sl.predict("7.3", checked="ValueError", unchecked=[56.0, 64.0], true_on=1, why="b")


@right
def untiled_and_reshaped():
    def honest(mesh, x):
        def body(block):
            return jax.lax.all_gather(block, "x", to="invarying").reshape(-1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@wrong("promise-not-proved", 3)
def varying():
    def honest(mesh, x):
        def body(block):
            return jax.lax.all_gather(block, "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@told("out-specs-act")
def out_specs_act():
    sl.predict("7.3", checked="ValueError", unchecked=[0.0, 1.0], true_on=1, why="a")


@told("first-is-copied")
def first_is_copied():
    sl.predict("7.3", checked="ValueError", unchecked=[0.0, 1.0], true_on=1, why="c")


@wrong("-", 3)
def summed_2():
    def honest(mesh, x):
        return jax.shard_map(lambda b: jax.lax.psum(b, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@wrong("-", 3)
def untiled():
    def honest(mesh, x):
        def body(block):
            return jax.lax.all_gather(block, "x", to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)
