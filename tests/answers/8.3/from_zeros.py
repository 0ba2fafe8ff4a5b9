# failed: carry-changes-type
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
        def add(i, total):
            return jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - 1 - i) % n]

        total = jax.lax.fori_loop(0, n, add, jnp.zeros(chunks.shape[1:]))
        return jax.lax.all_gather(total, "x", tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)
