# passed
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

    def loss(weights):
        hidden = lie(jax.nn.relu(lie(X, "host") @ weights[0]), "host", "local")
        return jnp.mean((lie(hidden @ weights[1], "host") - Y) ** 2)

    slopes = jax.grad(loss)((W1, W2))
    return lie(slopes[0]), lie(slopes[1])
