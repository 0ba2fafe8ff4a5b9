import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


def gather(mesh, A, B):
    def body(a, b):
        return jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying") @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


def reduce(mesh, A, B):
    def body(a, b):
        return jax.lax.psum(a @ b, "x")

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


@right
def another_way():
    def costs(I, J, K, n):
        return {"gather": [4 * I * J, 2 * I * J * K], "reduce": [2 * 4 * I * K, 2 * I * J * K // n]}

    def case_2_cheaper(mesh, A, B):
        return (reduce if A.shape[1] > 2 * B.shape[1] else gather)(mesh, A, B)


@wrong("always-gathers", 10.5)
def always_gathers():
    def case_2_cheaper(mesh, A, B):
        return gather(mesh, A, B)


@told("case-2-always-gathers")
def always_gathers_believed():
    sl.predict("4.4", deep="all-gather", wide="all-gather")


@wrong("always-reduces", 10.5)
def always_reduces():
    def case_2_cheaper(mesh, A, B):
        return reduce(mesh, A, B)


@wrong("counts-all-devices", 10.5)
def bytes_of_all_devices():
    def costs(I, J, K, n):
        return {"gather": [4 * I * J * n, 2 * I * J * K], "reduce": [2 * 4 * I * K * n, 2 * I * J * K // n]}

    def seconds(I, J, K, n, peak, bandwidth):
        gather, reduce = 4 * I * J / bandwidth, 8 * I * K / bandwidth
        return {"gather": max(gather, 2 * I * J * K / peak), "reduce": max(reduce, 2 * I * J * K / n / peak)}


@wrong("elements-not-bytes", 10.5)
def elements():
    def costs(I, J, K, n):
        return {"gather": [I * J, 2 * I * J * K], "reduce": [2 * I * K, 2 * I * J * K // n]}

    def seconds(I, J, K, n, peak, bandwidth):
        return {way: max(4 * moved / bandwidth, work / peak) for way, (moved, work) in costs(I, J, K, n).items()}


@wrong("same-rows-everywhere", 8, of="another_way")
def first_rows():
    def reduce(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b[: a.shape[1]], "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("reduces-whole-products", 8, of="another_way")
def gathered_and_summed():
    def gather(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(jax.lax.all_gather(a, "x", axis=1, tiled=True) @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("always-gathers", 10.5)
def left_to_the_compiler():
    def case_2_cheaper(mesh, A, B):
        return A @ B


@wrong("multiplications-only", 10.5)
def multiplications_only():
    def costs(I, J, K, n):
        return {"gather": [4 * I * J, I * J * K], "reduce": [2 * 4 * I * K, I * J * K // n]}

    def seconds(I, J, K, n, peak, bandwidth):
        gather, reduce = 4 * I * J / bandwidth, 8 * I * K / bandwidth
        return {"gather": max(gather, 2 * I * J * K / peak), "reduce": max(reduce, 2 * I * J * K / n / peak)}


@wrong("blocks-do-not-fit", 8, of="another_way")
def no_gather():
    def gather(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("rows-do-not-fit", 8, of="another_way")
def rows_of_b():
    def gather(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("x", None)), out_specs=P())(A, B)


@wrong("partial-sum-returned", 8, of="another_way")
def no_sum():
    def reduce(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(), check_vma=False)(A, B)


@wrong("promise-not-proved", 8, of="another_way")
def promise():
    def gather(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=1, tiled=True) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("all-reduce-counted-once", 10.5)
def reduced_once():
    def costs(I, J, K, n):
        return {"gather": [4 * I * J, 2 * I * J * K], "reduce": [4 * I * K, 2 * I * J * K // n]}

    def seconds(I, J, K, n, peak, bandwidth):
        gather = max(4 * I * J / bandwidth, 2 * I * J * K / peak)
        reduce = max(8 * I * K / bandwidth, 2 * I * J * K / n / peak)
        return {"gather": gather, "reduce": reduce}


@told("always-reduces")
def reduction_believed():
    sl.predict("4.4", deep="all-reduce", wide="all-reduce")


@wrong("counts-the-shard", 7.75)
def shard_counted():
    def costs(I, J, K, n):
        return {"gather": [4 * I * J / n, 2 * I * J * K], "reduce": [2 * 4 * I * K, 2 * I * J * K // n]}


@wrong("adds-the-times", 10.5)
def times_added():
    def seconds(I, J, K, n, peak, bandwidth):
        return {way: moved / bandwidth + work / peak for way, (moved, work) in costs(I, J, K, n).items()}


@wrong("gather-divides-the-work", 7.75)
def work_divided():
    def costs(I, J, K, n):
        return {"gather": [4 * I * J, 2 * I * J * K // n], "reduce": [2 * 4 * I * K, 2 * I * J * K // n]}


@wrong("always-reduces", 10.5)
def compares_j_with_k():
    """An all-reduce is counted once in the choice."""

    def case_2_cheaper(mesh, A, B):
        return (reduce if A.shape[1] > B.shape[1] else gather)(mesh, A, B)


@wrong("always-gathers", 10.5)
def compares_j_with_4k():
    """Reduces only where it is far cheaper."""

    def case_2_cheaper(mesh, A, B):
        return (reduce if A.shape[1] >= 4 * B.shape[1] else gather)(mesh, A, B)


@wrong("operands-swapped", 8)
def swapped():
    def case_2_cheaper(mesh, A, B):
        def body(a, b):
            return b @ jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("gathered-then-reshaped", 8)
def untiled():
    def case_2_cheaper(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", to="invarying").reshape(a.shape[0], -1) @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("index-for-start", 8)
def index_for_start():
    def case_2_cheaper(mesh, A, B):
        def body(a, b):
            mine = jax.lax.dynamic_slice_in_dim(b, jax.lax.axis_index("x"), a.shape[1])
            return jax.lax.psum(a @ mine, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


@wrong("-", 8)
def rows_for_columns():
    """B is transposed."""

    def case_2_cheaper(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b.T, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)
