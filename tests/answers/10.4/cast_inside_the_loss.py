# passed
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    def total(W):
        cast = jax.reshard(W, P(reduced={"data"}))
        return jax.lax.scan(lambda t, batch: (t + loss(cast, *batch), None), 0.0, (X, Y))[0]

    return jax.grad(total)(W)
