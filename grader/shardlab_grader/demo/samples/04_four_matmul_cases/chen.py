# points: 21
# reason: partial-sum-returned
# Never adds the partial sums up, and turned the check off that would have said so.
# %% * = solution
# %% q4-2-answer
def case_1(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P("x", None), P(None, "y")), out_specs=P("x", "y"))(A, B)


def case_2(mesh, A, B):
    def body(a, b):
        a = jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")
        return a @ b

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)


def case_3(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh, check_vma=False,
        in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


def case_4(mesh, A, B):
    def body(a, b):
        return a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P("x", None), P(None, "x")),
        out_specs=P("x", None))(A, B)
# %% q4-6-answer
def row_by_column(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P("x", None), P(None, "y")), out_specs=P("x", "y"))(A, B)


def row_by_replicated(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P("x", None), P()), out_specs=P("x", None))(A, B)


def replicated_by_column(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P(), P(None, "y")), out_specs=P(None, "y"))(A, B)


def block_by_row(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh, check_vma=False,
        in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))(A, B)
