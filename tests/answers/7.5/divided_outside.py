# passed
import jax
import jax.numpy as jnp
from jax import P, lax


def masked_mean(mesh, losses, lengths):
    def body(losses, n):
        keep = jnp.arange(losses.shape[1]) < n[:, None]
        return lax.psum(jnp.where(keep, losses, 0).sum(), "x"), lax.psum(keep.sum(), "x")

    s, c = jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=(P(), P()))(losses, lengths)
    return s / c
