# failed: half-the-error
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
sl.predict("10.1", numbers={"bytes": 12340, "all_reduces": 1, "bytes_of_twice_the_batch": 12340})


def step(mesh, X, Y, *weights):
    def error(weights):
        W1, b1, W2, b2 = weights
        out = jnp.maximum(X @ W1 + b1, 0) @ W2 + b2
        return jnp.mean((out - Y) ** 2) / 2

    slopes = jax.grad(error)(weights)
    new = [w - 0.1 * g for w, g in zip(weights, slopes)]
    return tuple(new)
