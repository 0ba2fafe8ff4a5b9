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


def late(mesh, *six):
    def body(A, B, C, D, E, F):
        return A @ B + C @ D + E @ F

    return jax.sharding.auto_axes(body)(*six, out_sharding=P())
