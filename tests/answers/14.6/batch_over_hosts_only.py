# failed: whole-gradients-cross
# points: 2
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
        hidden = jax.nn.relu(X @ lie(W1))
        return jnp.mean((hidden @ lie(W2) - Y) ** 2)

    return jax.tree.map(lie, jax.grad(loss)((W1, W2)))
