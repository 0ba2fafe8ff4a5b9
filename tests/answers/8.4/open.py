# failed: ring-is-open
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by=1):
    return [(d, d + by) for d in range(n) if 0 <= d + by < n]


def gather_both_ways(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        d, m = jax.lax.axis_index("x"), block.shape[0]
        blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
        right = left = block
        for i in range(1, n // 2 + 1):
            right = jax.lax.ppermute(right, "x", ring(n))
            blocks = blocks.at[(d - i) % n].set(right)
            if i <= (n - 1) // 2:
                left = jax.lax.ppermute(left, "x", ring(n, -1))
                blocks = blocks.at[(d + i) % n].set(left)
        return blocks.reshape(n * m, *block.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
