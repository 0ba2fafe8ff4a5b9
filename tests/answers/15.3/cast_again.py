# failed: cast-again
# points: 1
import jax
import jax.numpy as jnp
from jax import P

import shardlab as sl

sl.predict("15.3", idle={"one": 3 / 4, "four": 3 / 7, "sixteen": 3 / 19, "a_tenth": 27})


def pipeline(mesh, W, X, Y):
    stages, count = mesh.shape["stage"], len(X)
    onward = [(s, s + 1) for s in range(stages - 1)]

    def body(W, X, Y):
        stage = jax.lax.axis_index("stage")

        def loss(W):
            def tick(carry, t):
                arrived, total = carry
                x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                done = t - (stages - 1)
                error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                return (jax.lax.ppermute(out, "stage", onward), total), None

            start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
            (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
            return jax.lax.psum(total, "stage") / Y.size

        W = jax.lax.pcast(W, "stage", to="varying")
        return jax.value_and_grad(loss)(W)

    cut = P("stage", None, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)
