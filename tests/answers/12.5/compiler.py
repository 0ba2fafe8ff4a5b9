# failed: left-to-the-compiler
# points: 0
import jax

P = jax.P


def overlapped_mlp(mesh, X, W1, W2):
    Y = jax.nn.relu(X @ W1) @ W2
    return jax.lax.with_sharding_constraint(Y, jax.NamedSharding(mesh, P("x", None)))
