# failed: constraint-is-an-assert
# points: 0
import jax

P = jax.P


def ported(mesh, X, W1, W2):
    X = jax.lax.with_sharding_constraint(X, P('x', None))
    H = jax.nn.relu(X @ W1)
    H = jax.lax.with_sharding_constraint(H, P('x', 'y'))
    return jax.lax.with_sharding_constraint(H @ W2, P('x', None))
