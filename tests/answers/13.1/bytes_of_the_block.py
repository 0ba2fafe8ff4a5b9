# failed: bytes-of-the-block
# points: 2.5
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.1", moved={"fft": 8192, "vmap": 8192, "explicit": 8192, "product": 0})


def batch_fft(mesh, x):
    spec = P(mesh.axis_names)
    return jax.shard_map(jnp.fft.fft, mesh=mesh, in_specs=spec, out_specs=spec)(x)
