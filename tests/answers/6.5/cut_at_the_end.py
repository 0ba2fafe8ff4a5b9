# failed: resharded-at-the-end
# points: 1
import jax
import jax.numpy as jnp

P = jax.P


def ported(mesh, X, W1, W2):
    Y = jnp.dot(jax.nn.relu(X @ W1), W2, out_sharding=P())
    return jax.reshard(Y, P('x', None))
