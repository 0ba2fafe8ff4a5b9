# failed: gathers-over-the-slow-axis
# points: 1
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    def body(row):
        rows = jax.lax.all_gather(row[0], "dcn", to="invarying")
        return jax.lax.psum(rows.sum(0), "ici")

    return over(body, mesh)(X)
