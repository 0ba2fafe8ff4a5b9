# passed
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    def body(row):
        n = jax.lax.axis_size("ici")
        part = jax.lax.psum_scatter(row[0].reshape(n, -1), "ici")
        part = jax.lax.psum(part, "dcn")
        return jax.lax.all_gather(part, "ici", to="invarying").ravel()

    return over(body, mesh)(X)
