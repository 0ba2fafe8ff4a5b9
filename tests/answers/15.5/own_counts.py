# failed: never-summed
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def mended_3(mesh, labels):
    def body(labels):
        return jnp.zeros(100, jnp.int32).at[labels.ravel()].add(1)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P(), check_vma=False)(labels)
