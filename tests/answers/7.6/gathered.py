# failed: gathers-everything
# points: 3.5
import jax
import jax.numpy as jnp

P = jax.P


def softmax(mesh, x):
    def body(block):
        row = jax.lax.all_gather(block, "x", axis=1, tiled=True)
        e = jnp.exp(block - row.max(1, keepdims=True))
        return e / jnp.exp(row - row.max(1, keepdims=True)).sum(1, keepdims=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


def logsumexp(mesh, x):
    def body(block):
        most = jax.lax.pmax(block.max(1), "x")
        return jnp.log(jax.lax.psum(jnp.exp(block - most[:, None]).sum(1), "x")) + most

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)
