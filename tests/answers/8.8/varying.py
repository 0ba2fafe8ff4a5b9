# failed: promise-not-proved
# points: 0
import jax

P = jax.P


def two_halves(mesh, terms):
    def body(block):
        part = jax.lax.psum_scatter(block[0], "x", scatter_dimension=0, tiled=True)
        return jax.lax.all_gather(part, "x", axis=0, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)
