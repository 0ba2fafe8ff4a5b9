# failed: sum-not-cut
# points: 6.5
import jax
import jax.numpy as jnp

P = jax.P


def replicated(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P())


def rows(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P())


def columns(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P(None, 'x'))


def terms(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P(None, None, unreduced={'x'}))


def late(mesh, A, B, C, D, E, F):
    total = terms(mesh, A, B) + terms(mesh, C, D) + terms(mesh, E, F)
    return jax.reshard(total, P())
