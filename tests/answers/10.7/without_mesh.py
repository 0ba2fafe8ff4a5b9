# failed: note-without-mesh
# points: 0
import jax
import jax.numpy as jnp
from flax import nnx

SPECS = (None, "model"), ("model",), ("model", None), ()


class Network(nnx.Module):
    def __init__(self, *weights):
        params = (nnx.Param(w, out_sharding=s) for w, s in zip(weights, SPECS))
        self.W1, self.b1, self.W2, self.b2 = params

    def __call__(self, x):
        return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2


def train(mesh, X, Y, *weights):
    model = Network(*weights)
    for _ in range(5):
        slopes = nnx.grad(lambda model: jnp.mean((model(X) - Y) ** 2))(model)
        nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
    return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))
