# failed: left-to-the-compiler
# points: 3
import jax
import jax.numpy as jnp

P = jax.P


def auto_layer(mesh, x, W, b):
    return jax.nn.sigmoid(x @ W + b)


def explicit_layer(mesh, x, W, b):
    return jax.nn.sigmoid(jnp.dot(x, W, out_sharding=P()) + b)


def manual_layer(mesh, x, W, b):
    s = jnp.dot(x, W, out_sharding=P()) + b
    return jax.shard_map(jax.nn.sigmoid, mesh=mesh, in_specs=P(), out_specs=P())(s)
