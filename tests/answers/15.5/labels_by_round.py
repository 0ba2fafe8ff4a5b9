# failed: labels-travel
# points: 0.5
import jax
import jax.numpy as jnp

P = jax.P


def mended_3(mesh, labels):
    def body(labels):
        def step(total, now):
            now = jax.lax.all_gather(now, "data", tiled=True)
            return total + jnp.sum(now[:, None] == jnp.arange(100), axis=0), None

        return jax.lax.scan(step, jnp.zeros(100, jnp.int32), labels)[0]

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P(), check_vma=False)(labels)
