# failed: left-to-the-compiler
# points: 0
import jax

P = jax.P


def to_heads(mesh, x):
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P(None, "x")))


def to_tokens(mesh, x):
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P("x")))
