# passed
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
        n = mesh.shape["expert"]
        apart = parcels.reshape(n, experts // n, places, -1)
        there = jax.lax.all_to_all(apart, "expert", 0, 0)
        there = there.transpose(1, 0, 2, 3).reshape(experts // n, n * places, -1)
        active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
        answers = jnp.einsum("ecf,efd->ecd", active, W2)
        back = answers.reshape(experts // n, n, places, -1).transpose(1, 0, 2, 3)
        back = jax.lax.all_to_all(back, "expert", 0, 0).reshape(experts, places, -1)
        found = back.at[expert, place].get(mode="fill", fill_value=0)
        return x + found * chance.max(-1)[:, None]

    tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)
