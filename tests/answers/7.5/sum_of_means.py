# failed: mean-of-means
# points: 0
import jax
import jax.numpy as jnp
from jax import P, lax


def masked_mean(mesh, losses, lengths):
    def body(losses, n):
        keep = jnp.arange(losses.shape[1]) < n[:, None]
        return lax.psum(jnp.where(keep, losses, 0).sum() / keep.sum(), "x")

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P())(losses, lengths)
