# failed: gather-not-tiled
# points: 0
import jax
from jax import P, lax


def two_halves(mesh, terms):
    def body(block):
        part = lax.psum_scatter(block[0], "x", tiled=True)
        return lax.all_gather(part, "x", to="invarying")

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)
