# points: 54.25
# reason: reduces-then-slices
# Believes the textbook: case 2 always gathers, the compiler scatters; sums all of C and slices.
# %% * = solution
# %% q4-4-answer
sl.predict("4.4", deep="all-gather", wide="all-gather")
# %% q4-4-answer-2 = solution
def case_2_cheaper(mesh, A, B):
    def body(a, b):
        a = jax.lax.all_gather(a, "x", axis=1, tiled=True, to="invarying")
        return a @ b

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(None, "x"), P()), out_specs=P())(A, B)
# %% q4-5-answer
sl.predict("4.5", kinds=["reduce-scatter"], why="a", compilers=["GPU"])
# %% q4-5-answer-2
def case_3_scattered(mesh, A, B):
    def body(a, b):
        c = jax.lax.psum(a @ b, "x")
        m = c.shape[0] // mesh.shape["x"]
        return jax.lax.dynamic_slice_in_dim(c, m * jax.lax.axis_index("x"), m)

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)),
        out_specs=P("x", None))(A, B)
