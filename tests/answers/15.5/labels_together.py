# failed: labels-travel
# points: 0.5
import jax.numpy as jnp


def mended_3(mesh, labels):
    return jnp.bincount(labels.ravel(), length=100)
