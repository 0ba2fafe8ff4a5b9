# passed
import jax
import jax.numpy as jnp

P = jax.P


def batch_norm(mesh, X, scale, shift):
    def body(x, scale, shift):
        m = jax.lax.pmean(x.mean(0), "data")
        v = jax.lax.pmean(x.var(0) + (x.mean(0) - m) ** 2, "data")
        return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)
