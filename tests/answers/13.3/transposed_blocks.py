# passed
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 8192, "slabs": 16, "pencils": 256})


def pencil_fft(mesh, x):
    def body(block):
        block = jnp.fft.fft(block)
        block = lax.all_to_all(block, "y", 2, 1, tiled=True).transpose(0, 2, 1)
        block = jnp.fft.fft(block)
        block = lax.all_to_all(block, "x", 2, 0, tiled=True).transpose(2, 1, 0)
        return jnp.fft.fft(block).transpose(2, 0, 1)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)
