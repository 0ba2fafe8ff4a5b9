# failed: sums-in-one-go
# points: 1.5
import jax

P = jax.P


def two_halves(mesh, terms):
    def body(block):
        return jax.lax.psum(block[0], "x")

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)
