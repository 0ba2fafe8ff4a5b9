# failed: results-gathered
# points: 1.5
import jax
import jax.numpy as jnp
from jax import P, lax


def masked_mean(mesh, losses, lengths):
    def body(losses, lengths):
        keep = jnp.arange(losses.shape[1]) < lengths[:, None]
        mine = jnp.stack([jnp.where(keep, losses, 0).sum(), keep.sum().astype(losses.dtype)])
        total, words = lax.all_gather(mine, "x", to="invarying").sum(0)
        return total / words

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P())(losses, lengths)
