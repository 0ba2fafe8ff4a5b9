# passed
import jax
import jax.numpy as jnp
import shardlab as sl

P = jax.P

sl.predict("10.1", numbers={"bytes": 12340, "all_reduces": 1, "bytes_of_twice_the_batch": 12340})


def loss(weights, X, Y):
    W1, b1, W2, b2 = weights
    return jnp.mean((jax.nn.relu(X @ W1 + b1) @ W2 + b2 - Y) ** 2)


def step(mesh, X, Y, *weights):
    slopes = jax.grad(loss)(weights, X, Y)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)
