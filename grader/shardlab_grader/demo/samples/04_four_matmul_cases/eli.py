# points: 20
# reason: diagonal-blocks
# Case 4 by local products: only the diagonal blocks of C.
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
        lambda a, b: jax.lax.psum(a @ b, "x"), mesh=mesh,
        in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)


def case_4(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P("x", None), P(None, "x")), out_specs=P("x", None))(A, B)
# %% q4-3-answer
def case_4_rows(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P("x", None), P(None, "x")), out_specs=P("x", None))(A, B)


def case_4_columns(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)
