# failed: floats-still-travel
# points: 0.5
import jax
import jax.numpy as jnp

P = jax.P


def mended_6(mesh, x, q, s):
    w = jax.lax.with_sharding_constraint(q.astype(jnp.float32) * s, jax.NamedSharding(mesh, P()))
    return x @ w
