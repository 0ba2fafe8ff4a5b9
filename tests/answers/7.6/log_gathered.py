# failed: gathers-everything
# points: 4
import jax
import jax.numpy as jnp

P = jax.P


def softmax(mesh, x):
    def body(block):
        most = jax.lax.pmax(block.max(1, keepdims=True), "x")
        e = jnp.exp(block - most)
        return e / jax.lax.psum(e.sum(1, keepdims=True), "x")

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


def logsumexp(mesh, x):
    def body(block):
        row = jax.lax.all_gather(block, "x", axis=1, tiled=True, to="invarying")
        return jax.nn.logsumexp(row, axis=1)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)
