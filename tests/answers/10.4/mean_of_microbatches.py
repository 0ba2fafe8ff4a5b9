# failed: mean-instead-of-sum
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    cast = jax.reshard(W, P(reduced={"data"}))
    start = jax.reshard(jnp.zeros_like(W), P(unreduced={"data"}))

    def add(total, batch):
        return total + jax.grad(loss)(cast, *batch), None

    total, _ = jax.lax.scan(add, start, (X, Y))
    return jax.reshard(total, P()) / len(X)
