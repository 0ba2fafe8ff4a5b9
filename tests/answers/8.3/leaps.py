# failed: leaps-over-neighbours
# points: 1.5
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
        total = chunks[d]
        for i in range(1, n):
            total = total + jax.lax.ppermute(chunks[(d + i) % n], "x", ring(n, i))
        whole = jnp.zeros_like(chunks).at[d].set(total)
        for i in range(1, n):
            whole = whole.at[(d - i) % n].set(jax.lax.ppermute(total, "x", ring(n, i)))
        return whole.reshape(block.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)
