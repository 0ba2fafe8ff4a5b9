# failed: placed-at-the-end
# points: 2
import jax
import jax.numpy as jnp
from flax import nnx

P = jax.P
SPECS = P(None, "model"), P("model"), P("model", None), P()


class Network(nnx.Module):
    def __init__(self, mesh, *weights):
        params = (nnx.Param(w) for w, s in zip(weights, SPECS))
        self.W1, self.b1, self.W2, self.b2 = params

    def __call__(self, x):
        return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2


def placed(mesh, weights, specs=SPECS):
    return tuple(jax.lax.with_sharding_constraint(w, jax.NamedSharding(mesh, s)) for w, s in zip(weights, specs))


def loss(model, X, Y):
    return jnp.mean((model(X) - Y) ** 2)


def train(mesh, X, Y, *weights):
    model = Network(mesh, *weights)
    for _ in range(5):
        slopes = nnx.grad(loss)(model, X, Y)
        weights = [p[...] - 0.1 * slopes[name][...] for name, p in vars(model).items() if name in slopes]
        weights = [model.W1 - 0.1 * slopes.W1, model.b1 - 0.1 * slopes.b1, model.W2 - 0.1 * slopes.W2, model.b2 - 0.1 * slopes.b2]
        model = Network(mesh, *placed(mesh, weights, (P(), P(), P(), P())))
    return placed(mesh, tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2)))
