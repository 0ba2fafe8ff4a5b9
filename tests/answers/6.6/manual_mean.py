# failed: mean-for-sum
# points: 3
import jax
import jax.numpy as jnp

P = jax.P


def auto_layer(mesh, x, W, b):
    return jax.nn.sigmoid(x @ W + b)


def explicit_layer(mesh, x, W, b):
    return jax.nn.sigmoid(jnp.dot(x, W, out_sharding=P()) + b)


def manual_layer(mesh, x, W, b):
    def body(x, W, b):
        return jax.nn.sigmoid(jax.lax.pmean(x @ W, "x") + b)

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x", None), P()), out_specs=P())(x, W, b)
