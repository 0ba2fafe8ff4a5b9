# failed: scattered-over-the-slow-axis
# points: 1
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    def body(row):
        part = jax.lax.psum_scatter(row[0], "dcn", tiled=True)
        part = jax.lax.psum(part, "ici")
        return jax.lax.all_gather(part, "dcn", tiled=True, to="invarying")

    return over(body, mesh)(X)
