# passed
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    def body(row):
        n = jax.lax.axis_size("ici")
        parts = jax.lax.all_to_all(row[0].reshape(n, -1), "ici", 0, 0)
        part = jax.lax.psum(parts.sum(0), "dcn")
        return jax.lax.all_gather(part, "ici", tiled=True, to="invarying")

    return over(body, mesh)(X)
