# failed: gathers-over-the-slow-axis
# points: 1
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    def body(row):
        part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
        whole = jax.lax.all_gather(part, "ici", tiled=True, to="invarying")
        return jax.lax.all_gather(whole, "dcn", to="invarying").sum(0)

    return over(body, mesh)(X)
