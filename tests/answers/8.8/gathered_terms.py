# failed: gathers-all-terms
# points: 1.5
import jax

P = jax.P


def two_halves(mesh, terms):
    def body(block):
        return jax.lax.all_gather(block[0], "x", to="invarying").sum(0)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)
