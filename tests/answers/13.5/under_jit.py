# passed
import jax
import jax.numpy as jnp
import shardlab as sl

from jax import lax

sl.predict("13.5", loop={"gathered": 256, "runs": 19, "bytes": 1588})


def cg(mesh, A, b):
    def step(_, state):
        x, r, p, rr = state
        q = A @ p
        alpha = rr / jnp.vdot(p, q)
        x, r = x + alpha * p, r - alpha * q
        new = jnp.vdot(r, r)
        return x, r, r + new / rr * p, new

    return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, jnp.vdot(b, b)))[0]
