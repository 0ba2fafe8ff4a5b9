# passed
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 8192, "slabs": 16, "pencils": 256})


def pencil_fft(mesh, x):
    def body(block):
        def exchange(block, axis, split, concat):
            parts = (lax.all_to_all(part, axis, split, concat, tiled=True) for part in (block.real, block.imag))
            return lax.complex(*parts)
        
        block = jnp.fft.fft(block, axis=2)
        block = exchange(block, "y", 2, 1)
        block = jnp.fft.fft(block, axis=1)
        block = exchange(block, "x", 1, 0)
        return jnp.fft.fft(block, axis=0)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)
