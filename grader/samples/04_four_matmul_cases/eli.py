# points: 53
# reason: diagonal-blocks
# Case 4 by local products: only the diagonal blocks of C.
# %% * = solution
# %% q4-2-answer = solution
def case_4(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P("x", None), P(None, "x")), out_specs=P("x", None))(A, B)
# %% q4-3-answer = solution
def case_4_columns(mesh, A, B):
    return jax.shard_map(
        lambda a, b: a @ b, mesh=mesh,
        in_specs=(P("x", None), P(None, "x")), out_specs=P(None, "x"))(A, B)
