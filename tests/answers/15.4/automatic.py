# failed: left-to-the-compiler
# points: 0
import math

import jax
import jax.numpy as jnp


def moe(mesh, X, G, W1, W2):
    blocks, experts = 8, G.shape[1]
    places = math.ceil(1.25 * len(X) / blocks / experts)
    chance = jax.nn.softmax(X @ G)
    expert = jnp.argmax(chance, -1)
    hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
    counts = jnp.cumsum(hot.reshape(blocks, -1, experts), 1).reshape(-1, experts)
    kept = (counts * hot).sum(-1) <= places
    answers = jnp.einsum("td,edf->etf", X, W1)
    answers = jnp.einsum("etf,efd->etd", jax.nn.relu(answers), W2)
    found = jnp.einsum("etd,te->td", answers, hot * (kept * chance.max(-1))[:, None])
    return X + found
