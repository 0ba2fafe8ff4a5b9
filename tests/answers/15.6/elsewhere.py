# failed: -
# points: 1
import jax
import jax.numpy as jnp

P = jax.P
both = ("x", "y")
layout = {"X": P(both, None), "Y": P(both, None), "W1": P(both, None), "W2": P(both, None)}


def loss(weights, X, Y):
    W1, W2 = weights
    return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)


def step(mesh, X, Y, W1, W2):
    slopes = jax.grad(loss)((W1, W2), X, Y)
    place = jax.NamedSharding(mesh, P())
    return tuple(jax.lax.with_sharding_constraint(w - 0.1 * g, place) for w, g in zip((W1, W2), slopes))


design = {"layout": layout, "step": step}
