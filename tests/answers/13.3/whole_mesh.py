# failed: across-the-whole-mesh
# points: 4
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 8192, "slabs": 16, "pencils": 256})


def pencil_fft(mesh, x):
    def body(block):
        # All devices to all: x and y as if they were one axis, with empty messages where none are due.
        n, m = mesh.shape["x"], mesh.shape["y"]
        block = jnp.fft.fft(block, axis=2)
        parts = jnp.stack(jnp.split(block, m, axis=2))
        send = jnp.zeros((n, *parts.shape), parts.dtype).at[lax.axis_index("x")].set(parts)
        got = lax.all_to_all(send.reshape(n * m, *block.shape[:2], -1), ("x", "y"), 0, 0)
        block = jnp.concatenate(list(got.reshape(n, m, *block.shape[:2], -1)[lax.axis_index("x")]), axis=1)
        block = jnp.fft.fft(block, axis=1)
        block = lax.all_to_all(block, "x", 1, 0, tiled=True)
        return jnp.fft.fft(block, axis=0)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)
