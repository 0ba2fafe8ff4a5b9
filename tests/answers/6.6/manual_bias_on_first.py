# passed
import jax
import jax.numpy as jnp

P = jax.P


def auto_layer(mesh, x, W, b):
    return jax.nn.sigmoid(x @ W + b)


def explicit_layer(mesh, x, W, b):
    return jax.nn.sigmoid(jnp.dot(x, W, out_sharding=P()) + b)


def manual_layer(mesh, x, W, b):
    def body(x, W, b):
        first = jax.lax.axis_index("x") == 0
        return jax.nn.sigmoid(jax.lax.psum(x @ W + jnp.where(first, b, 0), "x"))

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x", None), P()), out_specs=P())(x, W, b)
