# failed: half-an-all-reduce
# points: 2.5
import jax

P = jax.P


def two_halves(mesh, terms):
    def body(block):
        return jax.lax.psum_scatter(block[0], "x", scatter_dimension=0, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)
