# failed: uses-a-finished-collective
# points: 1.5
import jax

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_all_gather(mesh, x):
    def body(block):
        return jax.lax.all_gather(block, "x", tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
