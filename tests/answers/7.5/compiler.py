# failed: left-to-the-compiler
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def masked_mean(mesh, losses, lengths):
    keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
    return jnp.where(keep, losses, 0.0).sum() / keep.sum().astype(jnp.float32)
