# failed: left-in-pieces
# points: 3.5
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding

P = jax.P


def grid(process_of):
    rows = {}
    for device, process in enumerate(process_of):
        rows.setdefault(process, []).append(device)
    return [rows[process] for process in sorted(rows)]


def gradients(mesh, X, Y, W1, W2):
    def lie(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    X, Y = lie(X, "host"), lie(Y, "host")

    def loss(weights):
        W1, W2 = weights
        hidden = jax.nn.relu(X @ lie(W1, None, "local"))
        return jnp.mean((hidden @ lie(W2, "local", None) - Y) ** 2)

    slopes = jax.grad(loss)((W1, W2))
    return lie(slopes[0], None, "local"), lie(slopes[1], "local", None)
