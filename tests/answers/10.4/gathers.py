# failed: gathers
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    X, Y = (jax.reshard(a, P()) for a in (X, Y))
    return jax.lax.scan(lambda t, batch: (t + jax.grad(loss)(W, *batch), None), jnp.zeros_like(W), (X, Y))[0]
