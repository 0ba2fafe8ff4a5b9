# passed
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
sl.predict("9.4", price=1, activations=1 / 8)


def norm(x, scale):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


def block(mesh, X, scale, W1, W2, b2):
    n = mesh.shape["model"]

    def body(x, scale, w1, w2, b2):
        hop = [(i, (i + 1) % n) for i in range(n)]
        own = norm(x, scale)
        parts = [own]
        for _ in range(n - 1):
            parts.append(jax.lax.ppermute(parts[-1], "model", hop))
        # parts[k] are the tokens of the device k places before
        ys = [jax.nn.relu(p @ w1) @ w2 for p in parts]
        total = ys[1]
        for k in range(2, n):
            total = jax.lax.ppermute(total, "model", hop) + ys[k]
        total = jax.lax.ppermute(total, "model", hop) + ys[0]
        return x + total + b2

    specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)
