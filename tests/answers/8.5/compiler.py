# failed: left-to-the-compiler
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def stencil(mesh, x):
    rows = jnp.pad(x, ((1, 1), (0, 0)))
    return jax.lax.with_sharding_constraint(
        rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:], jax.NamedSharding(mesh, P("x")))
