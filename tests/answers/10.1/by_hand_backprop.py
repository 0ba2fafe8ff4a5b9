# passed
import jax

import shardlab as sl

P = jax.P
sl.predict("10.1", numbers={"bytes": 12340, "all_reduces": 1, "bytes_of_twice_the_batch": 12340})


def step(mesh, X, Y, W1, b1, W2, b2):
    z = X @ W1 + b1
    h = jax.nn.relu(z)
    d = 2 * (h @ W2 + b2 - Y) / Y.size
    e = d @ W2.T * (z > 0)
    return W1 - 0.1 * X.T @ e, b1 - 0.1 * e.sum(0), W2 - 0.1 * h.T @ d, b2 - 0.1 * d.sum(0)
