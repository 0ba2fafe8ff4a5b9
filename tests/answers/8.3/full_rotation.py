# failed: full-rotation-ring
# points: 1.5
import jax

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_all_reduce(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        term = total = block[0]
        for _ in range(1, n):
            term = jax.lax.ppermute(term, "x", ring(n))
            total = total + term
        return total

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)
