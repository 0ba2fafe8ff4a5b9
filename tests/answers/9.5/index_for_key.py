# failed: seed-not-used
# points: 2.5
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
KEEP = 0.75


predictions = sl.predict("9.5", patterns=1)


def drop_hidden(mesh, seed, H):
    def body(h):
        key = jax.random.key(jax.lax.axis_index("model"))
        return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "model"), out_specs=P(None, "model"))(H)


def drop_output(mesh, seed, H):
    def body(seed, h):
        key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("data"))
        kept = jax.random.uniform(key, h.shape) < KEEP
        return h * kept / KEEP

    return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)
