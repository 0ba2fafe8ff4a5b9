# failed: local-softmax
# points: 2
import jax
import jax.numpy as jnp

P = jax.P


def softmax(mesh, x):
    def body(block):
        return jax.nn.softmax(block, axis=1)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


def logsumexp(mesh, x):
    def body(block):
        most = jax.lax.pmax(block.max(1), "x")
        return jnp.log(jax.lax.psum(jnp.exp(block - most[:, None]).sum(1), "x")) + most

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)
