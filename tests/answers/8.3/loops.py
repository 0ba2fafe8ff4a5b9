# passed
# points: 4
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
        def add(i, total):
            return jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]

        def keep(i, state):
            total, whole = state
            total = jax.lax.ppermute(total, "x", ring(n))
            return total, whole.at[(d - i) % n].set(total)

        total = jax.lax.fori_loop(2, n + 1, add, chunks[(d - 1) % n])
        whole = jnp.zeros_like(chunks).at[d].set(total)
        return jax.lax.fori_loop(1, n, keep, (total, whole))[1].reshape(block.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)
