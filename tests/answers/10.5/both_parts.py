# passed
import jax

P = jax.P


def batch_norm(mesh, X, scale, shift):
    def body(x, scale, shift):

        own = x.mean(0)
        m = jax.lax.pmean(own, "data")
        v = jax.lax.pmean(x.var(0) + (own - m) ** 2, "data")
        return scale * (x - m) * jax.lax.rsqrt(v + 1e-5) + shift

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)
