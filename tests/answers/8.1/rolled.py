# passed
import functools

import jax
import jax.numpy as jnp
from jax import P, lax


def ring_all_gather(mesh, x):
    n = mesh.shape["x"]

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x", None), out_specs=P(None, None), check_vma=False)
    def body(block):
        came = [block]
        for _ in range(n - 1):
            came.append(lax.ppermute(came[-1], "x", [(i, (i + 1) % n) for i in range(n)]))
        return jnp.roll(jnp.stack(came[::-1]), lax.axis_index("x") + 1, axis=0).reshape(-1, block.shape[-1])

    return jax.jit(body)(x)
