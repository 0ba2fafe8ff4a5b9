# failed: left-to-the-compiler
# points: 0
import jax
import jax.numpy as jnp
from jax import P


def gradients(mesh, X, Y, *weights):
    def lie(a, spec):
        return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

    def loss(weights):
        out = X
        for w in weights:
            out = jnp.tanh(out @ lie(w, P()))
        return jnp.mean((out - Y) ** 2)

    slopes = jax.grad(loss)(weights)

    return tuple(lie(g, P("data", None)) for g in slopes)
