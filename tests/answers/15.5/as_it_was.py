# failed: slices-of-the-cut
# points: 0.5
import jax
import jax.numpy as jnp

P = jax.P


def mended_2(mesh, x, w):
    slices = x.reshape(4, -1, x.shape[1])
    out = jax.lax.map(lambda part: jnp.tanh(part @ w), slices).reshape(len(x), -1)
    return jax.lax.with_sharding_constraint(out, jax.NamedSharding(mesh, P("data", None)))
