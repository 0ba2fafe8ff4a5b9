# passed
import jax
import jax.numpy as jnp
from jax import P
from jax.sharding import NamedSharding


def grid(process_of):
    hosts = max(process_of) + 1
    return [[d for d in range(len(process_of)) if process_of[d] == h] for h in range(hosts)]


def gradients(mesh, X, Y, W1, W2):
    def lie(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    X, Y, A, B = lie(X, "host"), lie(Y, "host"), lie(W1, None, "local"), lie(W2, "local")
    Z = lie(X @ A, "host", "local")
    H = jnp.maximum(Z, 0)
    E = lie(2 * (H @ B - Y) / Y.size, "host")
    g2 = lie(lie(H.T @ E, "local"))
    g1 = lie(lie(X.T @ ((E @ B.T) * (Z > 0)), None, "local"))
    return g1, g2
