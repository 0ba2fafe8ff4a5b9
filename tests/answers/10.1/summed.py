# failed: sum-instead-of-mean
# points: 1.5
import jax
import jax.numpy as jnp
import shardlab as sl

P = jax.P

sl.predict("10.1", numbers={"bytes": 12340, "all_reduces": 1, "bytes_of_twice_the_batch": 12340})


def loss(weights, X, Y):
    W1, b1, W2, b2 = weights
    return jnp.mean((jax.nn.relu(X @ W1 + b1) @ W2 + b2 - Y) ** 2)


def step(mesh, X, Y, *weights):
    slopes = jax.grad(lambda w: jnp.sum((jax.nn.relu(X @ w[0] + w[1]) @ w[2] + w[3] - Y) ** 2))(weights)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)
