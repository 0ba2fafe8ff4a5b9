# failed: still-one-way
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def gather_both_ways(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        d, m = jax.lax.axis_index("x"), block.shape[0]
        whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
        whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)

        def hop(i, state):
            block, whole = state
            block = jax.lax.ppermute(block, "x", ring(n))
            return block, jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)

        return jax.lax.fori_loop(1, n, hop, (block, whole))[1]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
