# failed: left-to-the-compiler
# points: 0
import jax
import jax.numpy as jnp


def gradients(mesh, X, Y, W1, W2):
    return jax.grad(lambda w: jnp.mean((jax.nn.relu(X @ w[0]) @ w[1] - Y) ** 2))((W1, W2))
