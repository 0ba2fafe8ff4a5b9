# failed: pmap-habit
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
sl.predict("10.1", numbers={"bytes": 12340, "all_reduces": 1, "bytes_of_twice_the_batch": 12340})


def step(mesh, X, Y, *weights):
    def body(X, Y, *weights):
        def error(weights):
            W1, b1, W2, b2 = weights
            return jnp.mean((jax.nn.relu(X @ W1 + b1) @ W2 + b2 - Y) ** 2)

        slopes = jax.lax.pmean(jax.grad(error)(weights), "data")
        return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P(), P(), P()), out_specs=P())(X, Y, *weights)
