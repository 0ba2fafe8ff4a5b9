# points: 90
# Everything right, and some of it in her own way: an n-th of the bias on each device, keys by split.
# %% * = solution
# %% q9-3-answer-2
def mlp_bias(mesh, X, W1, b1, W2, b2):
    n = mesh.shape["model"]

    def body(x, w1, b1, w2, b2):
        h = jax.nn.relu(x @ w1 + b1)
        return jax.lax.psum(h @ w2 + b2 / n, "model")

    return jax.shard_map(
        body, mesh=mesh, out_specs=P(),
        in_specs=(P(), P(None, "model"), P("model"), P("model", None), P()),
    )(X, W1, b1, W2, b2)
# %% q9-5-answer-2
def dropped(mesh, axis, spec, seed, array):
    def body(seed, block):
        keys = jax.random.split(jax.random.key(seed), mesh.shape[axis])
        mine = keys[jax.lax.axis_index(axis)]
        kept = jax.random.bernoulli(mine, KEEP, block.shape)
        return jnp.where(kept, block / KEEP, 0)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(), spec),
                         out_specs=spec)(seed, array)


def drop_hidden(mesh, seed, H):
    return dropped(mesh, "model", P(None, "model"), seed, H)


def drop_output(mesh, seed, Y):
    return dropped(mesh, "data", P("data", None), seed, Y)
