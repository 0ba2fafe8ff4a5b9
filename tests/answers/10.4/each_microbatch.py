# failed: all-reduce-each-microbatch
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    cast = jax.reshard(W, P(reduced={"data"}))

    def add(total, batch):
        return total + jax.reshard(jax.grad(loss)(cast, *batch), P()), None

    return jax.lax.scan(add, jnp.zeros_like(W), (X, Y))[0]
