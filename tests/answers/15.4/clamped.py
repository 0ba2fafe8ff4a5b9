# failed: full-expert-answers
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
        parcels = jnp.zeros((experts, places, x.shape[1]))
        parcels = parcels.at[expert, place].set(x, mode="drop")
        there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
        active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
        answers = jnp.einsum("ecf,efd->ecd", active, W2)
        back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
        found = back[expert, place]
        return x + found * chance.max(-1)[:, None]

    tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)
