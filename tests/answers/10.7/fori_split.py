# passed
import jax
import jax.numpy as jnp
from flax import nnx

P = jax.P


class Network(nnx.Module):
    def __init__(self, mesh, *weights):
        specs = (None, "model"), ("model",), ("model", None), ()
        self.W1, self.b1, self.W2, self.b2 = (nnx.Param(w, out_sharding=s, mesh=mesh) for w, s in zip(weights, specs))

    def __call__(self, x):
        return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2


def train(mesh, X, Y, *weights):
    graph, state = nnx.split(Network(mesh, *weights))

    def error(state):
        return jnp.mean((nnx.merge(graph, state)(X) - Y) ** 2)

    def one(_, state):
        return jax.tree.map(lambda w, g: w - 0.1 * g, state, jax.grad(error)(state))

    state = jax.lax.fori_loop(0, 5, one, state)
    m = nnx.merge(graph, state)
    return tuple(p[...] for p in (m.W1, m.b1, m.W2, m.b2))
