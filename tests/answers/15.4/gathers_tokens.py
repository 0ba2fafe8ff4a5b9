# failed: all-tokens-gathered
# points: 2.5
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
        parcels = jnp.zeros((experts, places, x.shape[1]))
        parcels = parcels.at[expert, place].set(x, mode="drop")
        everyone = jax.lax.all_gather((x, expert, place), "expert", tiled=True)
        tokens, named, seat = everyone
        first = jax.lax.axis_index("expert") * len(W1)
        found = jnp.zeros_like(tokens)
        for e in range(len(W1)):
            answer = jax.nn.relu(tokens @ W1[e]) @ W2[e]
            mine = (named == first + e) & (seat < places)
            found += jnp.where(mine[:, None], answer, 0)
        found = jax.lax.psum_scatter(found, "expert", tiled=True)
        return x + found * chance.max(-1)[:, None]

    tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)
