# failed: batch-over-everything
# points: 1
import jax

P = jax.P


def constrain(x, mesh, spec):
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, spec))


def block(mesh, X, W1, W2):
    H = jax.nn.relu(X @ W1)
    H = constrain(H, mesh, P("model", "data"))
    return constrain(H @ W2, mesh, P("data", None))
