# failed: ring-is-open
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def ring(n):
    return [(d, d + 1) for d in range(n - 1)]


def ring_all_gather(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        d, m = jax.lax.axis_index("x"), block.shape[0]
        whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
        whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
        for i in range(1, n):
            block = jax.lax.ppermute(block, "x", ring(n))
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
        return whole

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
