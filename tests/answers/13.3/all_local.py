# failed: cut-dimension-transformed
# points: 2
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 8192, "slabs": 16, "pencils": 256})


def pencil_fft(mesh, x):
    return jax.shard_map(jnp.fft.fftn, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)
