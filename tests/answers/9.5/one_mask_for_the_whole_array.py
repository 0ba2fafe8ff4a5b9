# passed
# points: 4.5
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
KEEP = 0.75


predictions = sl.predict("9.5", patterns=1)


def dropped(mesh, seed, H, spec):
    kept = jax.random.bernoulli(jax.random.key(seed), KEEP, H.shape)
    return jax.lax.with_sharding_constraint(jnp.where(kept, H / KEEP, 0), jax.NamedSharding(mesh, spec))


def drop_hidden(mesh, seed, H):
    return dropped(mesh, seed, H, P(None, "model"))


def drop_output(mesh, seed, H):
    return dropped(mesh, seed, H, P("data", None))
