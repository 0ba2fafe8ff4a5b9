# failed: rows-out-of-order
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def mended_2(mesh, x, w):
    slices = x.reshape(-1, 4, x.shape[1]).swapaxes(0, 1)
    out = jax.lax.map(lambda part: jnp.tanh(part @ w), slices)
    return jax.lax.with_sharding_constraint(out.reshape(len(x), -1), jax.NamedSharding(mesh, P("data", None)))
