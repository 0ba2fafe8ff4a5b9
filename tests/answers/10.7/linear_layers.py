# passed
import jax
import jax.numpy as jnp
from flax import nnx


class Network(nnx.Module):
    def __init__(self, mesh, W1, b1, W2, b2):
        def param(w, *spec):
            return nnx.Param(w, out_sharding=spec, mesh=mesh)

        rngs = nnx.Rngs(0)
        self.up = nnx.Linear(*W1.shape, rngs=rngs)
        self.down = nnx.Linear(*W2.shape, rngs=rngs)
        self.up.kernel, self.up.bias = param(W1, None, "model"), param(b1, "model")
        self.down.kernel, self.down.bias = param(W2, "model", None), param(b2)

    def __call__(self, x):
        return self.down(nnx.relu(self.up(x)))


@nnx.jit
def step(model, X, Y):
    value, slopes = nnx.value_and_grad(lambda model: jnp.mean((model(X) - Y) ** 2))(model)
    nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model, nnx.Param), slopes))
    return value


def train(mesh, X, Y, *weights):
    model = Network(mesh, *weights)
    for _ in range(5):
        step(model, X, Y)
    return tuple(p[...] for p in (model.up.kernel, model.up.bias, model.down.kernel, model.down.bias))
