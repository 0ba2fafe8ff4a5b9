# failed: own-mean
import jax
import jax.numpy as jnp

P = jax.P


def batch_norm(mesh, X, scale, shift):
    def body(x, scale, shift):

        m = x.mean(0)
        v = jax.lax.pmean(((x - m) ** 2).mean(0), "data")
        return scale * (x - m) / jnp.sqrt(v + 1e-5) + shift

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)
