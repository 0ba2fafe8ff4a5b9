# failed: rows-left-by-columns
# points: 0.75
import jax.numpy as jnp


def mended_5(mesh, table, ids):
    return jnp.take(table, ids, axis=0)
