# passed
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    n = mesh.shape["data"]

    def cut(a):
        count, rows, width = a.shape
        return a.reshape(count, n, rows // n, width, out_sharding=P(None, "data", None, None)).swapaxes(0, 1)

    def own(X, Y):
        return jax.lax.scan(lambda t, batch: (t + jax.grad(loss)(W, *batch), None), jnp.zeros_like(W), (X, Y))[0]

    return jax.vmap(own)(cut(X), cut(Y)).sum(0)
