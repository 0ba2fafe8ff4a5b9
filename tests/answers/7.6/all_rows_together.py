# failed: everything-adds-up
# points: 2
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
        m = lax.pmax(b.max(), "x")
        e = jnp.exp(b - m)
        return e / lax.psum(e.sum(), "x")

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)
