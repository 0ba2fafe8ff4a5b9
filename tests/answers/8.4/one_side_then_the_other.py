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
        def walk(by, hops):
            block_here, came = block, []
            for _ in range(hops):
                block_here = jax.lax.ppermute(block_here, "x", ring(n, by))
                came.append(block_here)
            return came

        came = [block, *walk(1, n // 2), *walk(-1, (n - 1) // 2)[::-1]]
        return jnp.stack(came)[(d - jnp.arange(n)) % n].reshape(n * m, *block.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
