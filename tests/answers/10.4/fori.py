# passed
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    cast = jax.reshard(W, P(reduced={"data"}))

    def add(i, total):
        return total + jax.grad(loss)(cast, X[i], Y[i])

    start = jax.reshard(jnp.zeros_like(W), P(unreduced={"data"}))
    return jax.reshard(jax.lax.fori_loop(0, len(X), add, start), P())
