# failed: accumulator-does-not-vary
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


def accumulate(mesh, W, X, Y):
    def body(W, X, Y):
        varying = jax.lax.pcast(W, "data", to="varying")
        def add(total, batch):
            return total + jax.grad(loss)(varying, *batch), None

        total, _ = jax.lax.scan(add, jnp.zeros(W.shape), (X, Y))
        return jax.lax.psum(total, "data")

    cut = P(None, "data")
    return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P())(W, X, Y)
