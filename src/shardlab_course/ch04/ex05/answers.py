import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@right
def all_to_all_and_sum():
    def case_3_scattered(mesh, A, B):
        def body(a, b):
            n = mesh.shape["x"]
            parts = (a @ b).reshape(n, -1, b.shape[1])
            return jax.lax.all_to_all(parts, "x", 0, 0, tiled=True).sum(0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P("x", None))(A, B)


@told("compiler-emits-reduce-scatter")
def believes_the_textbook():
    sl.predict("4.5", kinds=["reduce-scatter"], why="b", compilers=["GPU"])


@wrong("scattered-the-other-way", 6)
def columns():
    def case_3_scattered(mesh, A, B):
        def body(a, b):
            return jax.lax.psum_scatter(a @ b, "x", scatter_dimension=1, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(None, "x"))(A, B)


@told("slice-is-no-collective")
def counts_the_slice():
    sl.predict("4.5", kinds=["all-reduce", "slice"], why="b", compilers=["GPU"])


@wrong("gathers-operands", 4.5)
def gathers():
    def case_3_scattered(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "x", axis=1, tiled=True)
            b = jax.lax.all_gather(b, "x", axis=0, tiled=True)
            m = a.shape[0] // mesh.shape["x"]
            return jax.lax.dynamic_slice_in_dim(a, m * jax.lax.axis_index("x"), m) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P("x", None))(A, B)


@wrong("reduces-then-slices", 4.5)
def left_to_the_compiler():
    def case_3_scattered(mesh, A, B):
        C = A @ B
        return jax.lax.with_sharding_constraint(C, jax.NamedSharding(mesh, P("x", None)))


@wrong("scatter-not-tiled", 1.5)
def not_tiled():
    def case_3_scattered(mesh, A, B):
        def body(a, b):
            return jax.lax.psum_scatter(a @ b, "x", scatter_dimension=0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P("x", None))(A, B)


@wrong("partial-sums-stacked", 1.5)
def stacked():
    def case_3_scattered(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P("x", None))(A, B)


@wrong("reduces-then-slices", 4.5)
def sum_then_slice():
    def case_3_scattered(mesh, A, B):
        def body(a, b):
            c = jax.lax.psum(a @ b, "x")
            m = c.shape[0] // mesh.shape["x"]
            return jax.lax.dynamic_slice_in_dim(c, m * jax.lax.axis_index("x"), m)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P("x", None))(A, B)


@told("compiler-emits-reduce-scatter")
def both_halves():
    """Two collectives, and no slice among them."""
    sl.predict("4.5", kinds=["reduce_scatter", "all_gather"], why="b", compilers=["GPU"])


@told("cheapest-is-taken")
def cheapest_is_taken():
    sl.predict("4.5", kinds=["all-reduce"], why="a", compilers=["GPU"])


@told("cpu-lacks-it")
def cpu_lacks_it():
    sl.predict("4.5", kinds=["all-reduce"], why="c", compilers=["GPU"])


@wrong("reduces-then-slices", 3)
def whole_sum():
    def case_3_scattered(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)
