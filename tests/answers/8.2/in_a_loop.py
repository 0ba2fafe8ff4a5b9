# passed
# points: 3
import jax

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_reduce_scatter(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        d = jax.lax.axis_index("x")
        chunks = block[0].reshape(n, -1, *block.shape[2:])
        def hop(i, total):
            return jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]

        return jax.lax.fori_loop(2, n + 1, hop, chunks[(d - 1) % n])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)
