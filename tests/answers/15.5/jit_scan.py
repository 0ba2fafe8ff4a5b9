# failed: sum-still-in-the-loop
# points: 0.5
import jax
import jax.numpy as jnp

P = jax.P


def mended_3(mesh, labels):
    def step(total, now):
        return total + jnp.sum(now[:, None] == jnp.arange(100), axis=0), None

    return jax.lax.scan(step, jnp.zeros(100, jnp.int32), labels)[0]
