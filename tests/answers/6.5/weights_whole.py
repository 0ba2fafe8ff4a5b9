# failed: weights-made-whole
# points: 1
import jax

P = jax.P


def ported(mesh, X, W1, W2):
    X = jax.reshard(X, P("x", None))
    return jax.nn.relu(X @ jax.reshard(W1, P())) @ jax.reshard(W2, P())
