# failed: left-to-the-compiler
# points: 0
import jax

P = jax.P


def softmax(mesh, x):
    y = jax.nn.softmax(x, axis=1)
    return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P(None, "x")))


def logsumexp(mesh, x):
    return jax.nn.logsumexp(x, axis=1)
