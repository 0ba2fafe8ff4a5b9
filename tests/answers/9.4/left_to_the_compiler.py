# failed: left-to-the-compiler
# points: 0.5
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P


def norm(x, scale):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


predictions = sl.predict("9.4", price=1, activations=0.125)


def block(mesh, X, scale, W1, W2, b2):
    Y = X + jax.nn.relu(norm(X, scale) @ W1) @ W2 + b2
    return jax.lax.with_sharding_constraint(Y, jax.NamedSharding(mesh, P("model", None)))
