# failed: rounds-summed-apart
# points: 0.5
import jax
import jax.numpy as jnp

P = jax.P


def mended_3(mesh, labels):
    def body(labels):
        rounds = jax.lax.map(lambda now: jnp.sum(now[:, None] == jnp.arange(100), axis=0), labels)
        return jax.lax.psum(rounds, "data").sum(axis=0)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P())(labels)
