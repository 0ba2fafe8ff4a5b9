# failed: whole-batch-everywhere
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def ported(mesh, X, W1, W2):
    H = jax.reshard(jax.nn.relu(X @ W1), P("x", "y"))
    return jnp.dot(H, W2, out_sharding=P("x", None))
