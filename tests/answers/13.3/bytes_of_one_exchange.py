# failed: one-exchange
# points: 5.1
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 4096, "slabs": 16, "pencils": 256})


def pencil_fft(mesh, x):
    def body(block):
        block = jnp.fft.fft(block, axis=2)
        block = lax.all_to_all(block, "y", 2, 1, tiled=True)
        block = jnp.fft.fft(block, axis=1)
        block = lax.all_to_all(block, "x", 1, 0, tiled=True)
        return jnp.fft.fft(block, axis=0)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)
