# failed: arrival-order
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_all_reduce(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        d = jax.lax.axis_index("x")
        chunks = block[0].reshape(n, -1, *block.shape[2:])
        total = chunks[(d - 1) % n]
        for i in range(2, n + 1):
            total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
        came = [total]
        for _ in range(1, n):
            came.append(jax.lax.ppermute(came[-1], "x", ring(n)))
        return jnp.concatenate(came)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)
