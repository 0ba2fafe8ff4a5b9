# passed
import jax
import jax.numpy as jnp

P = jax.P


def auto_layer(mesh, x, W, b):
    total = jax.lax.with_sharding_constraint(x @ W, jax.NamedSharding(mesh, P()))
    return jax.nn.sigmoid(total + b)


def explicit_layer(mesh, x, W, b):
    terms = jnp.dot(x, W, out_sharding=P(unreduced={'x'}))
    return jax.nn.sigmoid(jax.reshard(terms, P()) + b)


def manual_layer(mesh, x, W, b):
    def body(x, W, b):
        return jax.nn.sigmoid(jax.lax.psum(x @ W, 'x') + b)

    specs = P('x'), P('x', None), P()
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(x, W, b)
