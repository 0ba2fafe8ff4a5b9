# failed: term-left-out
# points: 0
import jax

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_reduce_scatter(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        d = jax.lax.axis_index("x")
        chunks = block[0].reshape(n, -1, *block.shape[2:])
        total = chunks[(d - 1) % n]
        for i in range(2, n):
            total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
        return jax.lax.ppermute(total, "x", ring(n))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)
