import jax
from variants import right, wrong

P = jax.P


def case_1(mesh, A, B):
    def body(a, b):
        return a @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "y")), out_specs=P("x", "y"))(A, B)


def case_2(mesh, A, B):
    def body(a, b):
        a = jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")
        return a @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


def case_3(mesh, A, B):
    def body(a, b):
        return jax.lax.psum(a @ b, "x")

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


def case_4(mesh, A, B):
    def body(a, b):
        return a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", None))(A, B)


@wrong("communicates-for-nothing", 5)
def case_1_gathers():
    def rows(mesh, A, B):
        def body(a, b):
            return a @ jax.lax.all_gather(b, "y", axis=1, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "y")), out_specs=P("x", None))(A, B)

    def case_1(mesh, A, B):
        C = rows(mesh, A, B)
        return jax.lax.with_sharding_constraint(C, jax.NamedSharding(mesh, P("x", "y")))


@wrong("same-rows-everywhere", 4)
def case_2_first_rows():
    def case_2(mesh, A, B):
        def body(a, b):
            return a @ b[: a.shape[1]]

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P(), check_vma=False)(A, B)


@wrong("same-rows-everywhere", 4)
def case_2_first_rows_summed():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b[: a.shape[1]], "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("reduces-whole-products", 4)
def case_2_gather_and_sum():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(jax.lax.all_gather(a, "x", axis=1, tiled=True) @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("gathers-both", 5)
def case_2_gathers_both():
    def case_2(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")
            b = jax.lax.all_gather(b, "x", axis=0, tiled=True, to="invarying")
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("blocks-do-not-fit", 4)
def case_2_local_product():
    def case_2(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("blocks-do-not-fit", 4)
def case_2_stacked_gather():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=1) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("promise-not-proved", 4)
def case_2_varying():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=1, tiled=True) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("gathers-both", 5)
def case_3_gathers_both():
    def case_3(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")
            b = jax.lax.all_gather(b, "x", axis=0, tiled=True, to="invarying")
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("mean-instead-of-sum", 4)
def case_3_mean():
    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.pmean(a @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("partial-sum-returned", 4)
def case_3_no_sum():
    def case_3(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(), check_vma=False)(A, B)


@wrong("promise-not-proved", 4)
def case_3_no_sum_checked():
    def case_3(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("reduces-over-another-axis", 4)
def case_3_sum_over_both():
    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, mesh.axis_names)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(), check_vma=False)(A, B)


@wrong("reduces-over-another-axis", 4)
def case_3_sum_over_y():
    def case_3(mesh, A, B):
        def body(a, b):
            axis = "y" if "y" in mesh.shape else "x"
            return jax.lax.psum(a @ b, axis)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(), check_vma=False)(A, B)


@wrong("diagonal-blocks", 4.5)
def case_4_diagonal():
    def case_4(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", None))(A, B)


@wrong("diagonal-blocks", 4.5)
def case_4_double_spec():
    def case_4(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", "x"))(A, B)


@wrong("gathers-both", 5)
def case_4_gathers_both():
    def case_4(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "x", axis=0, tiled=True, to="invarying")
            b = jax.lax.all_gather(b, "x", axis=1, tiled=True, to="invarying")
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P())(A, B)


@wrong("left-to-the-compiler", 4.5)
def case_4_in_specs_gather():
    def case_4(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P()), out_specs=P("x", None))(A, B)


@wrong("left-to-the-compiler", 0)
def left_to_the_compiler():
    def case_1(mesh, A, B):
        return A @ B

    def case_2(mesh, A, B):
        return A @ B

    def case_3(mesh, A, B):
        return A @ B

    def case_4(mesh, A, B):
        return A @ B


@right
def reduce_and_gather_a():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)

    def case_4(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=0, tiled=True) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)


@right
def slices_b_by_hand():
    def case_2(mesh, A, B):
        def body(a, b):
            m = a.shape[1]
            b = jax.lax.dynamic_slice_in_dim(b, m * jax.lax.axis_index("x"), m)
            return jax.lax.psum(a @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)
