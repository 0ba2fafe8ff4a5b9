# points: 10.75
# reason: not attempted
# Ran out of time after 9.4, which is half done: the prediction, and no program. One program of 9.5.
# %% q9-1-answer = solution
# %% q9-1-answer-2 = solution
# %% q9-2-answer
def mlp_by_hand(mesh, X, W1, W2):
    def body(x, w1, w2):
        return jax.lax.psum(jax.nn.relu(x @ w1) @ w2, "model")

    return jax.shard_map(
        body, mesh=mesh, out_specs=P(),
        in_specs=(P(), P(None, "model"), P("model", None)))(X, W1, W2)


def three_layers(mesh, X, W1, W2, W3):
    return ...  # TODO
# %% q9-3-answer = solution
# %% q9-3-answer-2 = solution
# %% q9-4-answer
sl.predict("9.4", price=1, activations=...)
# %% q9-5-answer-2
def drop_hidden(mesh, seed, H):
    def body(seed, h):
        key = jax.random.fold_in(
            jax.random.key(seed), jax.lax.axis_index("model"))
        return jnp.where(
            jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(), P(None, "model")),
        out_specs=P(None, "model"))(seed, H)


def drop_output(mesh, seed, Y):
    return ...  # TODO
