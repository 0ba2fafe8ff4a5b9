# passed
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    cast = jax.reshard(W, P(reduced={"data"}))
    g = jax.grad(lambda W: jax.vmap(loss, (None, 0, 0))(W, X, Y).sum())(cast)
    return jax.reshard(g, P())
