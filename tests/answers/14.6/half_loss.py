# failed: averaged-again
# points: 1
import jax
import jax.numpy as jnp
from jax import P
from jax.sharding import NamedSharding


def grid(process_of):
    return [[d for d, q in enumerate(process_of) if q == p] for p in sorted(set(process_of))]


def gradients(mesh, X, Y, W1, W2):
    def lie(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    X, Y = lie(X, "host"), lie(Y, "host")

    def loss(W1, W2):
        hidden = jax.nn.relu(X @ lie(W1, None, "local"))
        return 0.5 * jnp.mean((hidden @ lie(W2, "local", None) - Y) ** 2)

    return tuple(lie(g) for g in jax.grad(loss, (0, 1))(W1, W2))
