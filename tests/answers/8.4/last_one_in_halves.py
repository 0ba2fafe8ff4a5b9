# passed
# points: 3.5
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def gather_both_ways(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        d, m = jax.lax.axis_index("x"), block.shape[0]
        blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
        right = left = block
        for i in range(1, (n + 1) // 2):
            right = jax.lax.ppermute(right, "x", ring(n))
            left = jax.lax.ppermute(left, "x", ring(n, -1))
            blocks = blocks.at[(d - i) % n].set(right).at[(d + i) % n].set(left)
        if n % 2 == 0:
            upper = jax.lax.ppermute(right[: m // 2], "x", ring(n))
            lower = jax.lax.ppermute(left[m // 2 :], "x", ring(n, -1))
            blocks = blocks.at[(d + n // 2) % n].set(jnp.concatenate([upper, lower]))
        return blocks.reshape(n * m, *block.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
