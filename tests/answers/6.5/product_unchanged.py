# failed: no-out-sharding
# points: 0
import jax

P = jax.P


def ported(mesh, X, W1, W2):
    X = jax.reshard(X, P('x', None))
    H = jax.nn.relu(X @ W1)
    return jax.reshard(H @ W2, P('x', None))
