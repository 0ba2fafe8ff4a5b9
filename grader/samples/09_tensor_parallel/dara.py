# points: 80.25
# reason: reduces-then-slices
# Right values, too many bytes: all-reduce and slice in 9.2 and 9.4, and believes that 9.4 saves
# communication. Leaves W2 whole in 9.1.
# %% * = solution
# %% q9-1-answer-2 = solution
plain["W2"] = gated["Wd"] = P()
# %% q9-2-answer = solution
def mine(array, axis, n):
    size = array.shape[axis] // n
    start = jax.lax.axis_index("model") * size
    return jax.lax.dynamic_slice_in_dim(array, start, size, axis)


def three_layers(mesh, X, W1, W2, W3):
    def body(x, w1, w2, w3):
        g = jax.lax.psum(jax.nn.relu(x @ w1) @ w2, "model")
        g = mine(jax.nn.relu(g), 1, mesh.shape["model"])
        return jax.lax.psum(g @ w3, "model")

    specs = (P(), P(None, "model"), P("model", None), P("model", None))
    return jax.shard_map(
        body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)
# %% q9-4-answer
sl.predict("9.4", price=0.5, activations=1 / 8)
# %% q9-4-answer-2
def block(mesh, X, scale, W1, W2, b2):
    def body(x, scale, w1, w2, b2):
        tokens = jax.lax.all_gather(
            norm(x, scale), "model", axis=0, tiled=True)
        y = jax.lax.psum(jax.nn.relu(tokens @ w1) @ w2, "model")
        return x + mine(y, 0, mesh.shape["model"]) + b2

    specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
    return jax.shard_map(
        body, mesh=mesh, in_specs=specs,
        out_specs=P("model", None))(X, scale, W1, W2, b2)
