# failed: all-reduce-each-layer
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    return jax.grad(lambda W: jax.vmap(lambda x, y: loss(W, x, y))(X, Y).sum())(W)
