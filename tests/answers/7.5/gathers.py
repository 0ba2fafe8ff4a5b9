# failed: gathers-everything
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def masked_mean(mesh, losses, lengths):
    def body(losses, lengths):
        losses, lengths = (jax.lax.all_gather(a, "x", tiled=True, to="invarying") for a in (losses, lengths))
        keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
        return jnp.where(keep, losses, 0.0).sum() / keep.sum().astype(jnp.float32)

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)
