# points: 55.5
# reason: 4.3
# Right in bfloat16, wrong in the precision that was asked for.
# %% * = solution
# %% q4-3-answer
def case_4_columns(mesh, A, B):
    def body(a, b):
        a = jax.lax.all_gather(a.astype("bfloat16"), "x", axis=0, tiled=True)
        return (a @ b.astype("bfloat16")).astype(b.dtype)

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P("x", None), P(None, "x")),
        out_specs=P(None, "x"))(A, B)
