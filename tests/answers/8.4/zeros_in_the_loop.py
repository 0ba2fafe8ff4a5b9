# failed: carry-changes-type
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def gather_both_ways(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        d, m = jax.lax.axis_index("x"), block.shape[0]
        def hop(i, state):
            right, left, blocks = state
            blocks = blocks.at[(d - i) % n].set(right).at[(d + i) % n].set(left)
            return jax.lax.ppermute(right, "x", ring(n)), jax.lax.ppermute(left, "x", ring(n, -1)), blocks

        blocks = jnp.zeros((n, *block.shape), block.dtype)
        return jax.lax.fori_loop(0, n // 2 + 1, hop, (block, block, blocks))[2].reshape(n * m, *block.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)
