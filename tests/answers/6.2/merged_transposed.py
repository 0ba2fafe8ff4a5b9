# failed: order-changed
# points: 6
import jax
import jax.numpy as jnp

P = jax.P


def contraction(mesh, A, B):
    return jnp.dot(A, B, out_sharding=P('x', None))


def clash(mesh, A, B):
    return A @ jax.reshard(B, P())


def added(mesh, A, B):
    return A + jax.reshard(B, P('x', None))


def merged(mesh, H):
    return H.swapaxes(0, 1).reshape(-1, H.shape[2])


def picked(mesh, T, ids):
    return T.at[ids].get(out_sharding=P())
