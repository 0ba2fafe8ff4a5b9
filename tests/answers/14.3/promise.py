# failed: promise-not-proved
# points: 0
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    def body(row):
        part = jax.lax.psum(jax.lax.psum_scatter(row[0], "ici", tiled=True), "dcn")
        return jax.lax.all_gather(part, "ici", tiled=True)

    return over(body, mesh)(X)
