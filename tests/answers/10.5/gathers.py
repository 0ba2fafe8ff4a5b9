# failed: gathers
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def batch_norm(mesh, X, scale, shift):
    def body(x, scale, shift):
        whole = jax.lax.all_gather(x, "data", tiled=True)
        m, v = whole.mean(0), whole.var(0)
        return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)
