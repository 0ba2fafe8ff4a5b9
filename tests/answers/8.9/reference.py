# passed
# points: 4.5
import jax

P = jax.P


def to_heads(mesh, x):
    def body(block):
        return jax.lax.all_to_all(block, "x", split_axis=1, concat_axis=0, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


def to_tokens(mesh, x):
    def body(block):
        return jax.lax.all_to_all(block, "x", split_axis=0, concat_axis=1, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P("x"))(x)
