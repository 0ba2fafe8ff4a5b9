# failed: left-to-the-compiler
# points: 1
import jax
import jax.numpy as jnp

import shardlab as sl

sl.predict("15.3", idle={"one": 3 / 4, "four": 3 / 7, "sixteen": 3 / 19, "a_tenth": 27})


def pipeline(mesh, W, X, Y):
    def loss(W):
        x = X
        for stage in W:
            x = jnp.tanh(x @ stage / len(stage) ** 0.5)
        return jnp.mean((x - Y) ** 2)

    return jax.value_and_grad(loss)(W)
