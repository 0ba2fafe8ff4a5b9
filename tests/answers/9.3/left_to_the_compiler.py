# failed: left-to-the-compiler
# points: 0.5
import jax

import shardlab as sl

P = jax.P


predictions = sl.predict("9.3", times=7)


def mlp_bias(mesh, X, W1, b1, W2, b2):
    return jax.nn.relu(X @ W1 + b1) @ W2 + b2
