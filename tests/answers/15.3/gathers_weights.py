# failed: weights-gathered
# points: 3.5
import jax
import jax.numpy as jnp
from jax import P

import shardlab as sl

sl.predict("15.3", idle={"one": 3 / 4, "four": 3 / 7, "sixteen": 3 / 19, "a_tenth": 27})


def pipeline(mesh, W, X, Y):
    def body(W, X, Y):
        def loss(W):
            x = X
            for stage in jax.lax.all_gather(W, "stage", tiled=True):
                x = jnp.tanh(x @ stage / len(stage) ** 0.5)
            return jax.lax.pmean(jnp.mean((x - Y) ** 2), "stage")

        return jax.value_and_grad(loss)(W)

    cut = P("stage", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)
