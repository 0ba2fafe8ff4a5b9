# failed: full-rotation-ring
# points: 1.5
import jax

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_all_reduce(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        def hop(i, state):
            term, total = state
            term = jax.lax.ppermute(term, "x", ring(n))
            return term, total + term

        return jax.lax.fori_loop(1, n, hop, (block[0], block[0]))[1]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)
