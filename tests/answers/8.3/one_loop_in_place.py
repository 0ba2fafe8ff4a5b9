# passed
# points: 4
import jax

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_all_reduce(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        d = jax.lax.axis_index("x")
        chunks = block[0].reshape(n, -1, *block.shape[2:])
        for i in range(2 * n - 2):
            arrived = jax.lax.ppermute(chunks[(d - i) % n], "x", ring(n))
            place = (d - i - 1) % n
            chunks = chunks.at[place].set(arrived + chunks[place] if i < n - 1 else arrived)
        return chunks.reshape(block.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)
