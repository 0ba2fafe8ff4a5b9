# passed
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
sl.predict("10.1", numbers={"bytes": 12340, "all_reduces": 1, "bytes_of_twice_the_batch": 12340})


def step(mesh, X, Y, *weights):
    def one(weights, x, y):
        W1, b1, W2, b2 = weights
        return jnp.mean((jax.nn.relu(x @ W1 + b1) @ W2 + b2 - y) ** 2)

    slopes = jax.vmap(jax.grad(one), in_axes=(None, 0, 0))(weights, X, Y)
    return jax.tree.map(lambda w, g: w - 0.1 * g.mean(0), weights, slopes)
