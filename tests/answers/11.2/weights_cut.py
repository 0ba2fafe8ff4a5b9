# failed: weights-cut
# points: 1.5
import jax
import jax.numpy as jnp
from jax import P


def train(mesh, X, Y, E, W):
    rows = P("data", None)

    def lie(a, spec):
        return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

    def loss(weights):
        E, W = weights
        return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

    weights = [E, W]
    state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
    for t in range(1, 6):
        slopes = jax.grad(loss)(weights)
        for i, slope in enumerate(slopes):
            m, v = state[i]
            m = lie(0.9 * m + 0.1 * slope, rows)
            v = lie(0.999 * v + 0.001 * slope**2, rows)
            change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
            weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), rows), (m, v)
    (mE, vE), (mW, vW) = state
    return weights[0], weights[1], mE, vE, mW, vW
