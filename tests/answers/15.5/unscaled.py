# failed: scale-forgotten
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def mended_6(mesh, x, q, s):
    q = jax.lax.with_sharding_constraint(q, jax.NamedSharding(mesh, P()))
    return x @ q.astype(jnp.float32)
