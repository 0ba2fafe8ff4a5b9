# failed: room-for-all-devices
# points: 0
import math

import jax
import jax.numpy as jnp
from jax import P


def moe(mesh, X, G, W1, W2):
    axes = mesh.axis_names

    def body(x, G, W1, W2):
        W1, W2 = (jax.lax.all_gather(w, "expert", tiled=True) for w in (W1, W2))
        chance = jax.nn.softmax(x @ G)
        expert = jnp.argmax(chance, -1)
        everyone = jax.lax.all_gather(expert, axes, tiled=True)
        hot = jax.nn.one_hot(everyone, len(W1), dtype=jnp.int32)
        place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
        start = jax.lax.axis_index(axes) * len(x)
        place = jax.lax.dynamic_slice_in_dim(place, start, len(x))
        kept = place < math.ceil(1.25 * len(everyone) / len(W1))
        out = jnp.einsum("td,tdf->tf", x, W1[expert])
        out = jnp.einsum("tf,tfd->td", jax.nn.relu(out), W2[expert])
        return x + jnp.where(kept, chance.max(-1), 0)[:, None] * out

    tokens, cut = P(axes, None), P("expert", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)
