# failed: weights-gathered
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
sl.predict("9.4", price=1, activations=1 / 8)


def norm(x, scale):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


def block(mesh, X, scale, W1, W2, b2):

    def body(x, scale, w1, w2, b2):

        w1 = jax.lax.all_gather(w1, "model", axis=1, tiled=True)
        w2 = jax.lax.all_gather(w2, "model", axis=0, tiled=True)
        return x + jax.nn.relu(norm(x, scale) @ w1) @ w2 + b2

    specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)
