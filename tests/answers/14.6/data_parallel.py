# failed: flat-data-parallel
# points: 2
import jax
import jax.numpy as jnp

P = jax.P


def grid(process_of):
    rows = {}
    for device, process in enumerate(process_of):
        rows.setdefault(process, []).append(device)
    return [rows[process] for process in sorted(rows)]


def gradients(mesh, X, Y, W1, W2):
    def loss(weights):
        return jnp.mean((jax.nn.relu(X @ weights[0]) @ weights[1] - Y) ** 2)

    return jax.grad(loss)((W1, W2))
