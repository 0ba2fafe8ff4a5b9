# failed: gradient-donated
# points: 1
import jax
import jax.numpy as jnp


def adam(mesh, W, m, v, slope, steps):
    m = 0.9 * m + 0.1 * slope
    v = 0.999 * v + 0.001 * slope**2
    t = steps + 1
    change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
    return W - 0.01 * change, m, v


step = jax.jit(adam, static_argnums=0, donate_argnums=4)
