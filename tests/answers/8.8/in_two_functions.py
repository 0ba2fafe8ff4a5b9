# passed
# points: 3
import jax

P = jax.P


def two_halves(mesh, terms):
    def body(block):
        return jax.lax.psum_scatter(block[0], "x", scatter_dimension=0, tiled=True)

    def whole(part):
        return jax.lax.all_gather(part, "x", axis=0, tiled=True, to="invarying")

    parts = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)
    return jax.shard_map(whole, mesh=mesh, in_specs=P("x"), out_specs=P())(parts)
