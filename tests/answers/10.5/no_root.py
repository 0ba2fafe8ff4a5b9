# failed: divided-by-the-variance
import jax

P = jax.P


def batch_norm(mesh, X, scale, shift):
    def body(x, scale, shift):

        m = jax.lax.pmean(x.mean(0), "data")
        v = jax.lax.pmean(((x - m) ** 2).mean(0), "data")
        return scale * (x - m) / (v + 1e-5) + shift

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)
