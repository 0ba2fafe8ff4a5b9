# points: 64.75
# reason: whole-bias-on-a-slice
# Three exceptions: b1 whole beside a slice of the hidden layer, a collective that does not exist, and
# heads divides by zero where there are more devices than key heads.
# %% * = solution
# %% q9-3-answer-2
def mlp_bias(mesh, X, W1, b1, W2, b2):
    def body(x, w1, b1, w2, b2):
        h = jax.nn.relu(x @ w1 + b1)
        return jax.lax.psum(h @ w2, "model") + b2

    specs = (P(), P(None, "model"), P(), P("model", None), P())
    return jax.shard_map(
        body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)
# %% q9-4-answer-2
def block(mesh, X, scale, W1, W2, b2):
    def body(x, scale, w1, w2, b2):
        tokens = jax.lax.all_gather(
            norm(x, scale), "model", axis=0, tiled=True)
        terms = jax.nn.relu(tokens @ w1) @ w2
        return x + jax.lax.reduce_scatter(terms, "model") + b2

    specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
    return jax.shard_map(
        body, mesh=mesh, in_specs=specs,
        out_specs=P("model", None))(X, scale, W1, W2, b2)
# %% q9-6-answer
def heads(q, kv, n):
    shared = kv // n
    found = []
    for device in range(n):
        own = list(range(device * q // n, (device + 1) * q // n))
        found.append([own, [own[0] // (q // kv) // shared * shared]])
    return found
