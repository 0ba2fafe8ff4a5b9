# passed
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    def body(row):
        part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
        return jax.lax.psum(part, "dcn")

    cut = over(body, mesh, P("ici"))(X)
    return jax.lax.with_sharding_constraint(cut, jax.sharding.NamedSharding(mesh, P()))
