# passed
# points: 3
import jax

P = jax.P


def two_halves(mesh, terms):
    def body(block):
        n, (rows, columns) = mesh.shape["x"], block.shape[1:]
        part = jax.lax.psum_scatter(block.reshape(n, -1), "x")
        return jax.lax.all_gather(part, "x", to="invarying").reshape(rows, columns)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)
