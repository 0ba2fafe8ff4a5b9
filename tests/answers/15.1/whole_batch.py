# failed: tokens-gathered
# points: 4
import jax
import jax.numpy as jnp
from jax import P

RATE, KEEP, STEPS = 0.5, 0.9, 5
SPECS = (P(), P(None, None, "model", None), P("model", None, None), P(None, "model"), P("model", None), P(None, "model"))


def norm(x):
    return x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-5)


def mean_loss(weights, tokens, parts):
    E, A, C, W1, W2, U = weights
    D, S = E.shape[1], tokens.shape[1] - 1
    x = E[tokens[:, :-1]]
    q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
    scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
    scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
    found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
    mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
    x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
    active = jax.nn.relu(norm(x) @ W1 / D**0.5)
    x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
    logits = norm(x) @ U / D**0.5
    top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
    own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
    right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
    total = jnp.exp(logits - top[..., None]).sum(-1)
    right, total = jax.lax.psum((right, total), "model")
    return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


def hand_train(mesh, tokens, *weights):
    parts = mesh.shape["model"]

    def body(tokens, *weights):
        def step(state, _):
            weights, speeds = state
            loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
            speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
            weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
            return (weights, speeds), loss

        speeds = jax.tree.map(jnp.zeros_like, weights)
        (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
        return losses, *weights, *speeds

    return jax.shard_map(body, mesh=mesh, in_specs=(P(), *SPECS), out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)
