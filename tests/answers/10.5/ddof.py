# failed: unbiased-variance
import jax
import jax.numpy as jnp

P = jax.P


def batch_norm(mesh, X, scale, shift):
    def body(x, scale, shift):

        n = len(x) * jax.lax.axis_size("data")
        m = jax.lax.psum(x.sum(0), "data") / n
        v = jax.lax.psum(((x - m) ** 2).sum(0), "data") / (n - 1)
        return scale * (x - m) / jnp.sqrt(v + 1e-5) + shift

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)
