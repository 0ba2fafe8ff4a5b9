# points: 13.5
# reason: not attempted
# Ran out of time: 4.4 and 4.5 untouched, one program of 4.3 and one of 4.6 not written.
# %% q4-1-answer = solution
# %% q4-2-answer = solution
# %% q4-3-answer
def case_4_rows(mesh, A, B):
    def body(a, b):
        return a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P("x", None), P(None, "x")),
        out_specs=P("x", None))(A, B)


def case_4_columns(mesh, A, B):
    return ...  # TODO
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
    return ...  # TODO
