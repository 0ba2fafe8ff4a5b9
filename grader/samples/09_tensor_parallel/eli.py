# points: 76.5
# reason: same-mask-everywhere
# The same key on all devices in 9.5, and checks turned off where copies differ; 9.6 with the mesh
# axes in the wrong order.
# %% * = solution
# %% q9-5-answer-2
def drop_hidden(mesh, seed, H):
    def body(seed, h):
        kept = jax.random.bernoulli(jax.random.key(seed), KEEP, h.shape)
        return jnp.where(kept, h / KEEP, 0)

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(), P(None, "model")),
        out_specs=P(None, "model"))(seed, H)


def drop_output(mesh, seed, Y):
    def body(seed, y):
        place = jax.lax.axis_index(("data", "model"))
        key = jax.random.fold_in(jax.random.key(seed), place)
        kept = jax.random.bernoulli(key, KEEP, y.shape)
        return jnp.where(kept, y / KEEP, 0)

    return jax.shard_map(
        body, mesh=mesh, check_vma=False, in_specs=(P(), P("data", None)),
        out_specs=P("data", None))(seed, Y)
# %% q9-6-answer-2 = solution
layout |= {"Wq": P(None, ("rep", "kv")), "Wo": P(("rep", "kv"))}
