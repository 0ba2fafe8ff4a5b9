# failed: hidden-units-travel
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
    news = [W1 - 0.1 * slopes[0], W2 - 0.1 * slopes[1]]
    places = [jax.NamedSharding(mesh, layout[name]) for name in ("W1", "W2")]
    return tuple(jax.lax.with_sharding_constraint(new, place) for new, place in zip(news, places))


design = {"layout": layout, "step": step}
