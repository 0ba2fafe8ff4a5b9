# failed: padding-counted
# points: 0
import jax

P = jax.P


def masked_mean(mesh, losses, lengths):
    def body(losses, lengths):
        return jax.lax.pmean(losses.mean(), "x")

    return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)
