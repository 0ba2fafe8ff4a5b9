# failed: wrong-dimension
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
sl.predict("9.4", price=1, activations=1 / 8)


def norm(x, scale):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


def block(mesh, X, scale, W1, W2, b2):

    def body(x, scale, w1, w2, b2):

        h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
        y = jax.lax.psum_scatter(jax.nn.relu(h @ w1) @ w2, "model", scatter_dimension=1, tiled=True)
        return x + y + b2

    specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)
