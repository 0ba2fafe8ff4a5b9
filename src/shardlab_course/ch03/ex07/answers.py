import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@right
def another_way():
    def shares(mesh, x):
        columns = jax.NamedSharding(mesh, P(None, "x"))
        x = jax.lax.with_sharding_constraint(x, columns)
        return jax.lax.with_sharding_constraint(jax.nn.softmax(x, axis=0), columns)


@wrong("out-shardings-free", 7)
def asked_at_the_end():
    def shares(mesh, x):
        columns = jax.NamedSharding(mesh, P(None, "x"))
        return jax.jit(lambda x: jax.nn.softmax(x, axis=0), out_shardings=columns)(x)


@right
def by_hand():
    def shares(mesh, x):
        def body(b):
            return jax.nn.softmax(jax.lax.all_to_all(b, "x", 1, 0, tiled=True), axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P(None, "x"))(x)


@wrong("out-shardings-free", 7)
def device_put_inside():
    def shares(mesh, x):
        columns = jax.NamedSharding(mesh, P(None, "x"))
        y = jax.nn.softmax(jax.device_put(x, columns), axis=0)
        return jax.lax.with_sharding_constraint(y, columns)


@wrong("other-dimension", 4)
def by_hand_along_rows():
    def shares(mesh, x):
        def body(b):
            return jax.nn.softmax(jax.lax.all_to_all(b, "x", 1, 0, tiled=True), axis=-1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P(None, "x"))(x)


@told("out-shardings-free")
def free():
    outcome["b"] = []
    sl.predict("3.7", outcome=outcome)


@right
def inner_jits():
    def shares(mesh, x):
        columns = jax.NamedSharding(mesh, P(None, "x"))
        turned = jax.jit(lambda x: x, out_shardings=columns)(x)
        return jax.jit(lambda x: jax.nn.softmax(x, axis=0), out_shardings=columns)(turned)


@wrong("local-softmax", 4)
def local():
    def shares(mesh, x):
        body = lambda b: jax.nn.softmax(b, axis=0)
        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(x)


@told("numpy-in-the-program")
def numpy():
    outcome["f"] = ["all-to-all"]
    sl.predict("3.7", outcome=outcome)


@told("in-shardings-move")
def promise():
    outcome["e"] = ["all-to-all"]
    sl.predict("3.7", outcome=outcome)


@wrong("other-dimension", 4)
def rows():
    def shares(mesh, x):
        columns = jax.NamedSharding(mesh, P(None, "x"))
        x = jax.lax.with_sharding_constraint(x, columns)
        return jax.lax.with_sharding_constraint(jax.nn.softmax(x, axis=1), columns)


@told("slicing-moves")
def slicing():
    outcome["d"] = ["all-gather"]
    sl.predict("3.7", outcome=outcome)


@wrong("never-turned", 8.5)
def stays():
    def shares(mesh, x):
        return jax.nn.softmax(x, axis=0)


@wrong("gathers-everything", 7)
def whole():
    def shares(mesh, x):
        x = jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))
        y = jax.nn.softmax(x, axis=0)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P(None, "x")))


@told("requests-refused")
def requests_refused():
    """Every request that asks for a move is taken for an error."""
    sl.predict("3.7", outcome={**outcome, "b": "ValueError", "c": "ValueError", "d": "TypeError"})


@wrong("-", 7)
def turned_then_compared():
    """Turned first, and then summed over devices all the same."""

    def shares(mesh, x):
        def body(b):
            columns = jax.lax.all_to_all(b, "x", 1, 0, tiled=True)
            top = jax.lax.pmax(columns.max(), "x")
            e = jax.numpy.exp(columns - top)
            return e / e.sum(0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P(None, "x"))(x)


@wrong("never-turned", 5.5)
def turned_back():
    def shares(mesh, x):
        columns = jax.NamedSharding(mesh, P(None, "x"))
        x = jax.lax.with_sharding_constraint(x, columns)
        y = jax.nn.softmax(x, axis=0)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", None)))
