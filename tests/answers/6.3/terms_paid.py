# failed: sum-already-paid
# points: 6
import jax
import jax.numpy as jnp

P = jax.P


def replicated(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P())


def rows(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P('x', None))


def columns(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P(None, 'x'))


def terms(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P())


def late(mesh, A, B, C, D, E, F):
    open = P(unreduced={'x'})
    pairs = (A, B), (C, D), (E, F)
    one, two, three = (jnp.dot(p, q, out_sharding=open) for p, q in pairs)
    return jax.reshard(one + two + three, P())
