# failed: full-rotation-ring
# points: 1.5
import jax

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_reduce_scatter(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        d = jax.lax.axis_index("x")
        chunks = block[0].reshape(n, -1, *block.shape[2:])
        term = total = block[0]
        for _ in range(1, n):
            term = jax.lax.ppermute(term, "x", ring(n))
            total = total + term
        return total.reshape(chunks.shape)[d]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)
