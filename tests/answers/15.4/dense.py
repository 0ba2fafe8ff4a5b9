# failed: rows-added-up
# points: 0
import math

import jax
import jax.numpy as jnp
from jax import P


def moe(mesh, X, G, W1, W2):
    def body(x, G, W1, W2):
        experts = G.shape[1]
        places = math.ceil(1.25 * len(x) / experts)
        chance = jax.nn.softmax(x @ G)
        expert = jnp.argmax(chance, -1)
        hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
        place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
        first = jax.lax.axis_index("expert") * len(W1)
        found = jnp.zeros_like(x)
        for e in range(len(W1)):
            mine = (expert == first + e) & (place < places)
            found += jnp.where(mine[:, None], jax.nn.relu(x @ W1[e]) @ W2[e], 0)
        found = jax.lax.psum(found, "expert")
        return x + found * chance.max(-1)[:, None]

    tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)
