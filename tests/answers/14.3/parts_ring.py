# failed: whole-rows-in-a-ring
# points: 1
import jax
from jax import P


def all_reduce(mesh, X):
    n = mesh.shape["dcn"]

    def body(row):
        part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
        total, moving = part, part
        for _ in range(n - 1):
            moving = jax.lax.ppermute(moving, "dcn", [(i, (i + 1) % n) for i in range(n)])
            total = total + moving
        return jax.lax.all_gather(total, "ici", tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=P(), check_vma=False)(X)
