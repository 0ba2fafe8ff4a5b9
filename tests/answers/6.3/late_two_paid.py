# failed: pays-three-times
# points: 6
import jax
import jax.numpy as jnp

P = jax.P


def replicated(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P())


def rows(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P("x", None))


def columns(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P(None, "x"))


def terms(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P(None, None, unreduced={"x"}))


def late(mesh, A, B, C, D, E, F):
    return jax.reshard(terms(mesh, A, B) + terms(mesh, C, D), P()) + replicated(mesh, E, F)
