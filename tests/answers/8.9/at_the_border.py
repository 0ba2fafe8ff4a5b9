# failed: left-to-the-compiler
# points: 0
import jax
from jax import P


def to_heads(mesh, x):

    return jax.shard_map(lambda b: b, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


def to_tokens(mesh, x):

    return jax.shard_map(lambda b: b, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
