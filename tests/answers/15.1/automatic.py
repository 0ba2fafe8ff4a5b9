# failed: left-to-the-compiler
# points: 0
import jax
import jax.numpy as jnp

RATE, KEEP, STEPS = 0.5, 0.9, 5


def norm(x):
    return x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-5)


def mean_loss(weights, tokens):
    E, A, C, W1, W2, U = weights
    D, S = E.shape[1], tokens.shape[1] - 1
    x = E[tokens[:, :-1]]
    q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
    scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
    scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
    found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
    x += jnp.einsum("bqhk,hkd->bqd", found, C) / (C.shape[0] * C.shape[1]) ** 0.5
    x += jax.nn.relu(norm(x) @ W1 / D**0.5) @ W2 / len(W2) ** 0.5
    logits = jax.nn.log_softmax(norm(x) @ U / D**0.5)
    return -jnp.mean(jnp.take_along_axis(logits, tokens[:, 1:, None], -1))


def hand_train(mesh, tokens, *weights):
    speeds, losses = jax.tree.map(jnp.zeros_like, weights), []
    for _ in range(STEPS):
        loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens)
        speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
        weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
        losses.append(loss)
    return jnp.stack(losses), *weights, *speeds
