# failed: whole-gradients-cross
# points: 2
import jax
import jax.numpy as jnp
from jax import P
from jax.sharding import NamedSharding


def grid(process_of):
    return [[d for d, q in enumerate(process_of) if q == p] for p in sorted(set(process_of))]


def gradients(mesh, X, Y, W1, W2):
    X, Y = (jax.lax.with_sharding_constraint(a, NamedSharding(mesh, P("host"))) for a in (X, Y))

    def loss(W1, W2):
        return jnp.mean((jax.nn.relu(X @ W1) @ W2 - Y) ** 2)

    return jax.grad(loss, (0, 1))(W1, W2)
