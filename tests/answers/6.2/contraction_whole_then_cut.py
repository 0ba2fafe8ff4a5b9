# failed: sum-made-whole
# points: 7
import jax
import jax.numpy as jnp

P = jax.P


def contraction(mesh, A, B):
    return jax.reshard(jnp.dot(A, B, out_sharding=P()), P("x", None))


def clash(mesh, A, B):
    return A @ jax.reshard(B, P())


def added(mesh, A, B):
    return A + jax.reshard(B, P("x", None))


def merged(mesh, H):
    return jnp.reshape(H, (-1, H.shape[2]), out_sharding=P("y", None))


def picked(mesh, T, ids):
    return T.at[ids].get(out_sharding=P())
