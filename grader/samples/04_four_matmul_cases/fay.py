# points: 46
# reason: 4.1: list-as-a-key
# Two exceptions: classify puts lists into a dict as keys, and the cell of 4.5 raises before it
# defines anything.
# %% * = solution
# %% q4-1-answer
def classify(subscripts, left, right):
    first, second, out = subscripts.replace("->", ",").split(",")
    one = {axis: letter for letter, axis in zip(first, left) if axis}
    two = {axis: letter for letter, axis in zip(second, right) if axis}
    for axis in one.keys() & two.keys():
        if one[axis] != two[axis] and {one[axis], two[axis]} <= set(out):
            return 4
    summed = (set(first) & set(second)) - set(out)
    cut = [{a: j for a, j in spec.items() if j in summed} for spec in (one, two)]
    if cut[0] != cut[1]:
        return 2
    return 3 if cut[0] else 1
# %% q4-5-answer-2
scatter = jax.lax.reduce_scatter_sum


def case_3_scattered(mesh, A, B):
    def body(a, b):
        c = jax.lax.psum(a @ b, "x")
        m = c.shape[0] // mesh.shape["x"]
        return jax.lax.dynamic_slice_in_dim(c, m * jax.lax.axis_index("x"), m)

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)),
        out_specs=P("x", None))(A, B)
