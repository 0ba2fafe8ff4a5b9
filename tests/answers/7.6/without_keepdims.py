# passed
import jax
import jax.numpy as jnp
from jax import P, lax


def logsumexp(mesh, x):
    def body(b):
        m = lax.pmax(b.max(1), "x")
        return m + jnp.log(lax.psum(jnp.exp(b - m[:, None]).sum(1), "x"))

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


def softmax(mesh, x):
    def body(b):
        m = lax.stop_gradient(lax.pmax(jnp.max(b, axis=-1), "x"))
        e = jnp.exp(b - m[:, None])
        return e * (1 / lax.psum(jnp.sum(e, -1), "x"))[:, None]

    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"),), out_specs=P(None, "x")))(x)
