# failed: scattered-and-gathered
# points: 1
import jax

P = jax.P


def constrain(x, mesh, spec):
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, spec))


def block(mesh, X, W1, W2):
    H = jax.nn.relu(X @ W1)
    Y = constrain(H @ W2, mesh, P(("data", "model"), None))
    return constrain(Y, mesh, P("data", None))
