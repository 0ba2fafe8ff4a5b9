# failed: same-place-for-both
# points: 0.25
import jax
import jax.numpy as jnp

P = jax.P


def mended_1(mesh, w1, w2):
    def placed(zeros):
        return jax.lax.with_sharding_constraint(zeros, jax.NamedSharding(mesh, P("data", None)))

    return placed(jnp.zeros_like(w1)), placed(jnp.zeros_like(w2))
