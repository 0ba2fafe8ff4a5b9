# failed: promise-not-proved
# points: 0
import jax
from jax import P


def all_reduce(mesh, X):
    def body(row):
        part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
        return jax.lax.all_gather(part, "ici", tiled=True, to="invarying")

    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=P())(X)
