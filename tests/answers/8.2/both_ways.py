# passed
import jax
import jax.numpy as jnp
from jax import P, lax


def ring_reduce_scatter(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        d = lax.axis_index("x")
        chunks = block.reshape(n, -1, block.shape[-1])
        a, b = chunks[..., :2], chunks[..., 2:]
        right, left = a[(d - 1) % n], b[(d + 1) % n]
        for i in range(2, n + 1):
            right = lax.ppermute(right, "x", [(k, (k + 1) % n) for k in range(n)]) + a[(d - i) % n]
            left = lax.ppermute(left, "x", [(k, (k - 1) % n) for k in range(n)]) + b[(d + i) % n]
        return jnp.concatenate([right, left], -1)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)(terms)
