# failed: one-hop-short
# points: 0
import jax
import jax.numpy as jnp
from jax import P, lax


def gather_both_ways(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        d = lax.axis_index("x")
        out = jnp.zeros((n,) + block.shape).at[d].set(block)
        right = left = block
        for i in range(1, n // 2 + 1):
            right = lax.ppermute(right, "x", [(k, (k + 1) % n) for k in range(n)])
            out = out.at[(d - i) % n].set(right)
            if i < n // 2:
                left = lax.ppermute(left, "x", [(k, (k - 1) % n) for k in range(n)])
                out = out.at[(d + i) % n].set(left)
        return out.reshape(-1, block.shape[1])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
