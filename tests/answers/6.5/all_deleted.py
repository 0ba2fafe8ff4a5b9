# failed: constraint-deleted
# points: 0.5
import jax
import jax.numpy as jnp

P = jax.P


def ported(mesh, X, W1, W2):
    return jnp.dot(jax.nn.relu(X @ W1), W2, out_sharding=P())
