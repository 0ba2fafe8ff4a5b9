# passed
import jax
import jax.numpy as jnp
from jax import P, lax


def slab_fft(mesh, x):
    def body(block):
        n, me = mesh.shape["x"], lax.axis_index("x")
        block = jnp.fft.fft(block)
        rows, width = block.shape[0], block.shape[1] // n
        whole = jnp.zeros((rows * n, width), block.dtype)
        for step in range(n):
            part = lax.dynamic_slice_in_dim(block, (me + step) % n * width, width, axis=1)
            if step:
                part = lax.ppermute(part, "x", [(i, (i + step) % n) for i in range(n)])
            whole = lax.dynamic_update_slice_in_dim(whole, part, (me - step) % n * rows, axis=0)
        return jnp.fft.fft(whole, axis=0)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)
