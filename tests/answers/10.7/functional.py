# passed
import jax
import jax.numpy as jnp
from flax import nnx

P = jax.P
SPECS = P(None, "model"), P("model"), P("model", None), P()


class Network(nnx.Module):
    def __init__(self, mesh, *weights):
        params = (nnx.Param(w, out_sharding=tuple(s), mesh=mesh) for w, s in zip(weights, SPECS))
        self.W1, self.b1, self.W2, self.b2 = params

    def __call__(self, x):
        return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2


def train(mesh, X, Y, *weights):
    structure, state = nnx.split(Network(mesh, *weights))

    def loss(state):
        return jnp.mean((nnx.merge(structure, state)(X) - Y) ** 2)

    def step(state, _):
        return jax.tree.map(lambda w, g: w - 0.1 * g, state, jax.grad(loss)(state)), None

    state, _ = jax.lax.scan(step, state, length=5)
    model = nnx.merge(structure, state)
    return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))
