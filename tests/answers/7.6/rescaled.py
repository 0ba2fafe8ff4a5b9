# passed
# points: 4.5
import jax
import jax.numpy as jnp

P = jax.P


def softmax(mesh, x):
    def body(block):
        own = block.max(1, keepdims=True)
        e = jnp.exp(block - own)
        most = jax.lax.pmax(own, "x")
        scale = jnp.exp(own - most)
        return e * scale / jax.lax.psum(e.sum(1, keepdims=True) * scale, "x")

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


def logsumexp(mesh, x):
    def body(block):
        own = jax.nn.logsumexp(block, axis=1)
        most = jax.lax.pmax(own, "x")
        return jnp.log(jax.lax.psum(jnp.exp(own - most), "x")) + most

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)
