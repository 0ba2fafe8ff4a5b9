import jax

from variants import right, wrong

P = jax.P


def row_by_replicated(mesh, A, B):
    def body(a, b):
        return a @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P()), out_specs=P("x", None))(A, B)


def replicated_by_column(mesh, A, B):
    def body(a, b):
        return a @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "y")), out_specs=P(None, "y"))(A, B)


def block_by_row(mesh, A, B):
    def body(a, b):
        return jax.lax.psum(a @ b, "y")

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))(A, B)


@wrong("communicates-for-nothing", 5)
def gathers_columns():
    def replicated_by_column(mesh, A, B):
        def body(a, b):
            return a @ jax.lax.all_gather(b, "y", axis=1, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "y")), out_specs=P())(A, B)


@wrong("communicates-for-nothing", 5)
def gathers_rows():
    def row_by_replicated(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a, "x", axis=0, tiled=True, to="invarying") @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P()), out_specs=P())(A, B)


@right
def left_to_the_compiler():
    def row_by_replicated(mesh, A, B):
        return A @ B

    def replicated_by_column(mesh, A, B):
        return A @ B

    def block_by_row(mesh, A, B):
        return A @ B


@wrong("partial-sum-returned", 3)
def no_sum():
    def block_by_row(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None), check_vma=False)(
            A, B
        )


@wrong("promise-not-proved", 3)
def no_sum_checked():
    def block_by_row(mesh, A, B):
        def body(a, b):
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))(A, B)


@right
def scatter_columns():
    def block_by_row(mesh, A, B):
        def body(a, b):
            return jax.lax.psum_scatter(a @ b, "y", scatter_dimension=1, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", "y"))(A, B)


@right
def scatter_rows():
    def block_by_row(mesh, A, B):
        def body(a, b):
            return jax.lax.psum_scatter(a @ b, "y", scatter_dimension=0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P(("x", "y"), None))(A, B)


@wrong("reduces-over-rows", 3)
def sum_over_x():
    def block_by_row(mesh, A, B):
        def body(a, b):
            return jax.lax.psum(a @ b, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None), check_vma=False)(
            A, B
        )


@wrong("gathers-both", 4)
def two_gathers():
    def block_by_row(mesh, A, B):
        def body(a, b):
            a = jax.lax.all_gather(a, "y", axis=1, tiled=True, to="invarying")
            b = jax.lax.all_gather(b, "y", axis=0, tiled=True, to="invarying")
            return a @ b

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))(A, B)
