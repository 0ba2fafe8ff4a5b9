import jax

from shardlab_course.answers import right, wrong

P = jax.P


@right
def another_way():
    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("communicates-for-nothing", 12.5)
def case_1_gathers():
    def rows(mesh, A, B):
        def body(a, b):
            return a @ jax.lax.all_gather(b, "y", axis=1, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "y")), out_specs=P("x", None))(A, B)

    def case_1(mesh, A, B):
        C = rows(mesh, A, B)
        return jax.lax.with_sharding_constraint(C, jax.NamedSharding(mesh, P("x", "y")))


@wrong("same-rows-everywhere", 10)
def case_2_first_rows():
    def case_2(mesh, A, B):
        def body(a, b):
            return a @ b[: a.shape[1]]

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P(), check_vma=False)(A, B)


@wrong("same-rows-everywhere", 10)
def case_2_first_rows_summed():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b[: a.shape[1]], "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("reduces-whole-products", 10)
def case_2_gather_and_sum():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(jax.lax.all_gather(a, "x", axis=1, tiled=True) @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("gathers-both", 12.5)
def case_2_gathers_both():
    def case_2(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")
            b = jax.lax.all_gather(b, "x", axis=0, tiled=True, to="invarying")
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("blocks-do-not-fit", 10)
def case_2_local_product():
    def case_2(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("rows-do-not-fit", 10)
def case_2_rows_of_b():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("x", None)), out_specs=P())(A, B)


@wrong("blocks-do-not-fit", 10)
def case_2_stacked_gather():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=1) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("promise-not-proved", 10)
def case_2_varying():
    def case_2(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=1, tiled=True) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("gathers-both", 12.5)
def case_3_gathers_both():
    def case_3(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")
            b = jax.lax.all_gather(b, "x", axis=0, tiled=True, to="invarying")
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("mean-instead-of-sum", 10)
def case_3_mean():
    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.pmean(a @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("partial-sum-returned", 10)
def case_3_no_sum():
    def case_3(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(), check_vma=False)(A, B)


@wrong("promise-not-proved", 10)
def case_3_no_sum_checked():
    def case_3(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("reduces-whole-products", 10)
def case_3_sum_over_both():
    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, mesh.axis_names)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(), check_vma=False)(A, B)


@wrong("reduces-over-another-axis", 10)
def case_3_sum_over_y():
    def case_3(mesh, A, B):
        def body(a, b):
            axis = "y" if "y" in mesh.shape else "x"
            return jax.lax.psum(a @ b, axis)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(), check_vma=False)(A, B)


@wrong("diagonal-blocks", 11.25)
def case_4_diagonal():
    def case_4(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", None))(A, B)


@wrong("axis-for-both-dimensions", 11.25)
def case_4_double_spec():
    def case_4(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", "x"))(A, B)


@wrong("gathers-both", 12.5)
def case_4_gathers_both():
    def case_4(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "x", axis=0, tiled=True, to="invarying")
            b = jax.lax.all_gather(b, "x", axis=1, tiled=True, to="invarying")
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P())(A, B)


@wrong("left-to-the-compiler", 11.25)
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


@wrong("reduces-whole-products", 10)
def case_3_summed_twice():
    def case_3(mesh, A, B):
        def body(a, b):
            once = jax.lax.psum(a @ b, "x")
            return jax.lax.psum(jax.lax.pcast(once, "x", to="varying"), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("operands-swapped", 10)
def case_2_swapped():
    """B's block times A's: no part of J is missing."""

    def case_2(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")
            return b @ a

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("operands-swapped", 11.25)
def case_4_swapped():
    def case_4(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(b, "x", axis=1, tiled=True) @ a

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", None))(A, B)


@wrong("gathered-then-reshaped", 10)
def case_2_untiled():
    def case_2(mesh, A, B):
        def body(a, b):
            blocks = jax.lax.all_gather(a, "x", to="invarying")
            return blocks.reshape(a.shape[0], -1) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("index-for-start", 10)
def case_2_index_for_start():
    def case_2(mesh, A, B):
        def body(a, b):
            mine = jax.lax.dynamic_slice_in_dim(b, jax.lax.axis_index("x"), a.shape[1])
            return jax.lax.psum(a @ mine, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@right
def sums_in_two_steps():
    """Each sum scattered over the rows, or the columns, and brought together again."""

    def case_2(mesh, A, B):
        def body(a, b):
            rows = jax.lax.psum_scatter(a @ b, "x", scatter_dimension=0, tiled=True)
            return jax.lax.all_gather(rows, "x", axis=0, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)

    def case_3(mesh, A, B):
        def body(a, b):
            columns = jax.lax.psum_scatter(a @ b, "x", scatter_dimension=1, tiled=True)
            return jax.lax.all_gather(columns, "x", axis=1, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("left-to-the-compiler")
def dead_regions_beside():
    def answer(mesh, A, B):
        jax.shard_map(lambda: jax.lax.psum(jax.lax.axis_index("x"), "x"), mesh=mesh, in_specs=(), out_specs=P())()
        return A @ B

    case_1 = case_2 = case_3 = case_4 = answer


@wrong("left-to-the-compiler")
def a_region_that_changes_nothing():
    def case_1(mesh, A, B):
        A = jax.shard_map(lambda a: a, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(A)
        return (A[:, :, None] * B[None]).sum(1)


@wrong("left-to-the-compiler")
def gathered_at_the_border():
    def case_4(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P()), out_specs=P("x", None))(A, B)


@right
def in_an_inner_jit():
    def case_3(mesh, A, B):
        @jax.jit
        def product(a, b):
            return jax.shard_map(
                lambda a, b: jax.lax.psum(a @ b, "x"), mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P()
            )(a, b)

        return product(A, B)


@right
def transposed_outside():
    def case_1(mesh, A, B):
        def body(b, a):
            return b @ a

        specs = (P("y", None), P(None, "x"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("y", "x"))(B.T, A.T).T


@wrong("-", 12.5)
def a_number_more():
    """Right, by the dearer of the two ways where they cost alike, with 4 bytes more that are reduced for nothing."""

    def case_2(mesh, A, B):
        def body(a, b):
            m = a.shape[1]
            b = jax.lax.dynamic_slice_in_dim(b, m * jax.lax.axis_index("x"), m)
            return jax.lax.psum(a @ b, "x") + 0 * jax.lax.psum((a @ b).sum(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@right
def unchecked():
    """The check costs nothing, and finds nothing where nothing is wrong."""

    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, "x")

        specs = P(None, "x"), P("x", None)
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)(A, B)


@wrong("axis-for-both-dimensions", 11.25)
def c4_gather_but_both_out():
    def case_4(mesh, A, B):
        def body(a, b):
            return a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P("x", "x"))(A, B)


@wrong("reduces-whole-products", 10)
def c3_psum_all():
    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, mesh.axis_names)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(), check_vma=False)(A, B)


@wrong("-", 12.5)
def c4_gather_b_and_c():
    def case_4(mesh, A, B):
        def body(a, b):
            c = a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)
            return jax.lax.all_gather(c, "x", axis=0, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P(None, "x")), out_specs=P())(A, B)


@wrong("sums-before-the-product", 10)
def case_3_sums_the_operands():
    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a, "x") @ jax.lax.psum(b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@wrong("sum-dealt-out", 12.5)
def case_3_scatters_columns():
    def case_3(mesh, A, B):
        def body(a, b):
            return jax.lax.psum_scatter(a @ b, "x", scatter_dimension=1, tiled=True)

        specs = P(None, "x"), P("x", None)
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(None, "x"))(A, B)


@wrong("partial-sum-returned", 10)
def case_3_puts_terms_in_rows():
    def case_3(mesh, A, B):
        def body(a, b):
            return a @ b

        specs = P(None, "x"), P("x", None)
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(A, B)
