# failed: whole-batch-travels
# points: 3.5
import jax
import jax.numpy as jnp
from jax import P

import shardlab as sl

sl.predict("15.3", idle={"one": 3 / 4, "four": 3 / 7, "sixteen": 3 / 19, "a_tenth": 27})


def pipeline(mesh, W, X, Y):
    stages = mesh.shape["stage"]

    def body(W, X, Y):
        stage = jax.lax.axis_index("stage")

        def loss(W):
            held = jax.lax.pcast(X, "stage", to="varying")
            for _ in range(stages):
                out = jnp.tanh(held @ W[0] / len(W[0]) ** 0.5)
                held = jax.lax.ppermute(out, "stage", [(s, s + 1) for s in range(stages - 1)])
            error = jnp.sum((out - Y) ** 2)
            return jax.lax.psum(jnp.where(stage == stages - 1, error, 0), "stage") / Y.size

        return jax.value_and_grad(loss)(W)

    cut = P("stage", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)
