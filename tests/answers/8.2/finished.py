# failed: uses-a-finished-collective
# points: 1.5
import jax

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_reduce_scatter(mesh, terms):
    def body(block):
        return jax.lax.psum_scatter(block[0], "x", tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)
