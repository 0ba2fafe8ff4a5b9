# points: 76.5
# reason: relu-before-sum
# Adds up too late, or too early: relu on terms in 9.2, the bias on every device in 9.3.
# %% * = solution
# %% q9-2-answer = solution
def three_layers(mesh, X, W1, W2, W3):
    def body(x, w1, w2, w3):
        h = jax.nn.relu(x @ w1)
        g = jax.nn.relu(h @ w2)
        g = jax.lax.psum_scatter(
            g, "model", scatter_dimension=1, tiled=True)
        return jax.lax.psum(g @ w3, "model")

    specs = (P(), P(None, "model"), P("model", None), P("model", None))
    return jax.shard_map(
        body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)
# %% q9-3-answer-2
def mlp_bias(mesh, X, W1, b1, W2, b2):
    def body(x, w1, b1, w2, b2):
        h = jax.nn.relu(x @ w1 + b1)
        return jax.lax.psum(h @ w2 + b2, "model")

    specs = (P(), P(None, "model"), P("model"), P("model", None), P())
    return jax.shard_map(
        body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)
