import jax
import jax.numpy as jnp

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@told("rows-of-all-devices")
def all_devices():
    sl.predict("3.4", kinds=kinds, roll_bytes=32768, why="c")


@wrong("other-dimension", 2)
def along_columns():
    sl.predict("3.4", roll_bytes=512)

    def running_total(mesh, x):
        return jnp.cumsum(x, axis=1)


@wrong("other-dimension", 7.5)
def blocks_along_columns():
    def running_total(mesh, x):
        def body(b):
            c = jnp.cumsum(b, axis=1)
            totals = jax.lax.all_gather(c[-1], "x")
            earlier = jnp.arange(len(totals))[:, None] < jax.lax.axis_index("x")
            return c + jnp.where(earlier, totals, 0).sum(0, keepdims=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(x)


@wrong("blocks-not-offset", 7.5)
def blocks_alone():
    def running_total(mesh, x):
        n = mesh.shape["x"]
        y = jnp.cumsum(x.reshape(n, -1, x.shape[1]), axis=1).reshape(x.shape)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", None)))


@right
def by_hand():
    def running_total(mesh, x):
        def body(b):
            c = jnp.cumsum(b, axis=0)
            totals = jax.lax.all_gather(c[-1], "x")
            mine = jax.lax.axis_index("x")
            earlier = jnp.arange(len(totals))[:, None] < mine
            return c + jnp.where(earlier, totals, 0).sum(0, keepdims=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(x)


@told("columns-cross-devices")
def columns_move():
    kinds["cumsum_columns"] = ["all-gather"]
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="c")


@told("elementwise-thinking")
def cumsum_free():
    kinds["cumsum"] = []
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="c")


@wrong("gathers-everything", 11.5)
def left_to_the_compiler():
    def running_total(mesh, x):
        y = jnp.cumsum(x, axis=0)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", None)))


@wrong("own-row-left-out", 2)
def own_row_left_out():
    sl.predict("3.4", roll_bytes=512)

    def running_total(mesh, x):
        blocks = x.reshape(mesh.shape["x"], -1, x.shape[1])
        within = jnp.cumsum(blocks, axis=1)
        totals = within[:, -1]
        before = jnp.cumsum(totals, axis=0) - totals
        return (within - blocks + before[:, None]).reshape(x.shape)


@wrong("own-total-included", 7.5)
def own_total():
    def running_total(mesh, x):
        n = mesh.shape["x"]
        within = jnp.cumsum(x.reshape(n, -1, x.shape[1]), axis=1)
        totals = within[:, -1]
        before = jnp.cumsum(totals, axis=0)
        y = (within + before[:, None]).reshape(x.shape)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", None)))


@told("reshaping-is-free")
def ravel_free():
    kinds["ravel_transposed"] = []
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="c")


@told("roll-gathers")
def roll_gathers():
    kinds["roll"] = ["all-gather"]
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="c")


@told("row-in-elements")
def row_elements():
    sl.predict("3.4", kinds=kinds, roll_bytes=128, why="c")


@told("whole-shard-rolls")
def shard_rolls():
    sl.predict("3.4", kinds=kinds, roll_bytes=4096, why="c")


@told("softmax-is-elementwise")
def softmax_free():
    kinds["softmax"] = []
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="c")


@told("whole-dimension-gathered")
def softmax_gathers():
    kinds["softmax"] = ["all-gather"]
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="c")


@told("transposing-moves")
def transpose_moves():
    kinds["transpose"] = ["all-to-all"]
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="c")


@wrong("neighbour-only", 7.5)
def last_total():
    """The total of the shard before, alone."""

    def running_total(mesh, x):
        n = mesh.shape["x"]
        within = jnp.cumsum(x.reshape(n, -1, x.shape[1]), axis=1)
        totals = within[:, -1]
        before = jnp.concatenate([jnp.zeros_like(totals[:1]), totals[:-1]])
        y = (within + before[:, None]).reshape(x.shape)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", None)))


@wrong("every-total-added", 7.5)
def all_totals():
    """A sum that knows no order."""

    def running_total(mesh, x):
        n = mesh.shape["x"]
        within = jnp.cumsum(x.reshape(n, -1, x.shape[1]), axis=1)
        totals = within[:, -1]
        before = jnp.broadcast_to(totals.sum(0), totals.shape)
        y = (within + before[:, None]).reshape(x.shape)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", None)))


@wrong("from-the-end", 7.5)
def totals_behind():
    """Those behind instead of those before."""

    def running_total(mesh, x):
        n = mesh.shape["x"]
        within = jnp.cumsum(x.reshape(n, -1, x.shape[1]), axis=1)
        totals = within[:, -1]
        before = totals.sum(0) - jnp.cumsum(totals, axis=0)
        y = (within + before[:, None]).reshape(x.shape)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", None)))


@told("clever-compiler")
def clever():
    """What would be enough, instead of what is compiled."""
    sl.predict(
        "3.4", kinds={**kinds, "cumsum": ["collective-permute"], "ravel_transposed": "all_to_all"}, roll_bytes=512, why="c"
    )


@right
def spelt_otherwise():
    """With underscores, without a list, twice, none by name."""
    said = {
        "transpose": "none",
        "roll": "collective_permute",
        "cumsum": ("ALL-GATHER",),
        "cumsum_columns": [],
        "softmax": ["all-reduce", "all_reduce"],
        "ravel_transposed": {"all gather"},
    }
    sl.predict("3.4", kinds=said, roll_bytes=512.0, why="c")


@told("the-problem-asks")
def the_problem_asks():
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="a")


@told("output-decides")
def output_decides():
    sl.predict("3.4", kinds=kinds, roll_bytes=512, why="b")
