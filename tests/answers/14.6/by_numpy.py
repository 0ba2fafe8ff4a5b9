# passed
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

P = jax.P


def grid(process_of):
    hosts = len(set(process_of))
    return np.argsort(process_of, kind="stable").reshape(hosts, -1).tolist()


def gradients(mesh, X, Y, W1, W2):
    def lie(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    X, Y = lie(X, "host"), lie(Y, "host")

    def loss(weights):
        W1, W2 = weights
        hidden = jax.nn.relu(X @ lie(W1, None, "local"))
        return jnp.mean((hidden @ lie(W2, "local", None) - Y) ** 2)

    return jax.tree.map(lie, jax.grad(loss)((W1, W2)))
