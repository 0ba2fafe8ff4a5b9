# failed: sums-whole-rows-then-cuts
# points: 1
import jax

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    def body(row):
        whole = jax.lax.psum(row[0], "ici")
        size = whole.size // jax.lax.axis_size("ici")
        start = jax.lax.axis_index("ici") * size
        part = jax.lax.psum(jax.lax.dynamic_slice_in_dim(whole, start, size), "dcn")
        return jax.lax.all_gather(part, "ici", tiled=True, to="invarying")

    return over(body, mesh)(X)
