# failed: last-word-too
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def masked_mean(mesh, losses, lengths):
    def body(losses, lengths):
        keep = jnp.arange(losses.shape[1])[None] <= lengths[:, None]
        kept = jnp.where(keep, losses, 0.0)
        count = keep.sum().astype(jnp.float32)
        return jax.lax.psum(kept.sum(), "x") / jax.lax.psum(count, "x")

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)
