import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@wrong("array-moved", 3)
def array_first():
    def fully_sharded(mesh, x):
        return jax.reshard(x, P(None, ("y", "x"))).sum(axis=0)


@told("before-not-after")
def as_before():
    sl.predict("6.7", copies=2, why="a")


@right
def asked_at_once():
    def fully_sharded(mesh, x):
        return jax.lax.reduce_sum(x, axes=(0,), out_sharding=P(("y", "x")))


@told("published-claim")
def claim_believed():
    sl.predict("6.7", copies=1, why="a")


@wrong("constraint-is-an-assert", 1)
def constrained():
    def fully_sharded(mesh, x):
        return jax.lax.with_sharding_constraint(x.sum(axis=0), P(("y", "x")))


@wrong("constraint-is-an-assert", 1)
def constrained_by_sharding():
    def fully_sharded(mesh, x):
        return jax.lax.with_sharding_constraint(x.sum(axis=0), jax.NamedSharding(mesh, P(("y", "x"))))


@told("parts-not-copies")
def eight():
    sl.predict("6.7", copies=8, why="a")


@wrong("rows-added-up-each", 1)
def other_axis():
    def fully_sharded(mesh, x):
        return jax.reshard(x.sum(axis=1), P(("x", "y")))


@wrong("published-answer", 2)
def published():
    def fully_sharded(mesh, x):
        return jax.reshard(x.sum(axis=0), P("x"))


@right
def scattered():
    def fully_sharded(mesh, x):
        def body(x):
            return jax.lax.psum_scatter(x.sum(axis=0), "x", tiled=True)

        return jax.shard_map(body, out_specs=P(("y", "x")))(x)


@wrong("two-entries", 1)
def two_entries():
    def fully_sharded(mesh, x):
        return jax.reshard(x.sum(axis=0), P("x", "y"))


@wrong("as-the-sum-leaves-it", 3)
def unchanged():
    def fully_sharded(mesh, x):
        return x.sum(axis=0)


@wrong("made-whole", 2)
def whole():
    def fully_sharded(mesh, x):
        return jax.reshard(x.sum(axis=0), P())


@wrong("other-order", 2)
def x_slower():
    def fully_sharded(mesh, x):
        return jax.reshard(x.sum(axis=0), P(("x", "y")))


@told("rest-is-spread")
def rest_is_spread():
    sl.predict("6.7", copies=4, why="b")


@told("axis-keeps-its-cut")
def axis_keeps_its_cut():
    sl.predict("6.7", copies=4, why="c")


@wrong("-", 1)
def total():
    def fully_sharded(mesh, x):
        return jax.reshard(x.sum(), P())
