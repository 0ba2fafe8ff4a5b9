import jax

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("gathers-what-should-stay", 3)
def always_gathers_b():
    def case_4_columns(mesh, A, B):
        def body(a, b):
            c = a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)
            return jax.lax.all_to_all(c, "x", 1, 0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@wrong("compiler-detour", 3)
def by_out_shardings():
    def case_4_columns(mesh, A, B):
        C = A @ B
        return jax.lax.with_sharding_constraint(C, jax.NamedSharding(mesh, P(None, "x")))


@wrong("diagonal-blocks", 0)
def diagonal_in_zeros():
    def case_4_columns(mesh, A, B):
        def body(a, b):
            m = a.shape[0]
            d = jax.lax.axis_index("x")
            zeros = jax.numpy.zeros((A.shape[0], b.shape[1]))
            return jax.lax.dynamic_update_slice_in_dim(jax.lax.pcast(zeros, "x", to="varying"), a @ b, d * m, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@wrong("diagonal-blocks", 0)
def diagonal_stacked():
    def case_4_columns(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@wrong("gathered-along-the-other-dimension", 0)
def gathered_the_other_way():
    def case_4_columns(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=1, tiled=True) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@wrong("gathers-both", 3)
def gathers_both():
    def case_4_columns(mesh, A, B):
        def body(a, b):
            c = jax.lax.all_gather(a, "x", axis=0, tiled=True) @ jax.lax.all_gather(b, "x", axis=1, tiled=True)
            m = b.shape[1]
            return jax.lax.dynamic_slice_in_dim(c, m * jax.lax.axis_index("x"), m, 1)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@wrong("other-side-scattered", 1.5)
def the_other_side():
    def case_4_columns(mesh, A, B):
        def body(a, b):
            return a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", None))(A, B)


@right
def smaller_gather_then_turn():
    def case_4_columns(mesh, A, B):
        def body(a, b):
            if B.size + A.shape[0] * B.shape[1] // mesh.shape["x"] >= A.size:
                return jax.lax.all_gather(a, "x", axis=0, tiled=True) @ b
            c = a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)
            return jax.lax.all_to_all(c, "x", 1, 0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@wrong("operands-swapped", 0)
def swapped():
    """The other product."""

    def case_4_columns(mesh, A, B):
        def body(a, b):
            return b @ jax.lax.all_gather(a, "x", axis=0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@wrong("gathers-what-should-stay", 3)
def turns_though_it_costs_more():
    """The turn is counted on the wrong side of the comparison."""

    def case_4_columns(mesh, A, B):
        def body(a, b):
            if B.size - A.shape[0] * B.shape[1] // mesh.shape["x"] >= A.size:
                return jax.lax.all_gather(a, "x", axis=0, tiled=True) @ b
            c = a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)
            return jax.lax.all_to_all(c, "x", 1, 0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@wrong("axis-for-both-dimensions", 0)
def both_sides_named():
    def case_4_columns(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=0, tiled=True) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", "x"))(A, B)
