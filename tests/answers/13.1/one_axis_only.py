# failed: some-axes-only
# points: 3
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0})


def batch_fft(mesh, x):
    return jax.shard_map(jnp.fft.fft, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
