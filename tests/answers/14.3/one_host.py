# failed: one-axis-only
# points: 0
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    return over(lambda row: jax.lax.psum(row[0], "ici"), mesh, check_vma=False)(X)
