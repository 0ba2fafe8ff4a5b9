# failed: slices-averaged
# points: 1
from functools import partial

import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P

sl.predict("11.4", gathers={"exported": 8, "compiled": 4})


def lean(mesh, X, Y, *weights):
    @partial(jax.checkpoint, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
    def layer(x, w):
        return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

    def body(X, Y, *slices):
        def loss(slices):
            out = X
            for w in slices:
                out = layer(out, w)
            return jnp.mean((out - Y) ** 2)

        return jax.lax.pmean(jax.grad(loss)(slices), "data")

    cut = P("data", None)
    return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
