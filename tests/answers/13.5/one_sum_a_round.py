# passed
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.5", loop={"gathered": 256, "runs": 19, "bytes": 1588})


def cg(mesh, A, b):
    # Chronopoulos and Gear: both numbers of a round are summed at once.
    def body(A, b):
        def times(v):
            return A @ lax.all_gather(v, "x", tiled=True)

        def dots(r, w):
            return lax.psum(jnp.stack([jnp.vdot(r, r), jnp.vdot(r, w)]), "x")

        def step(_, state):
            x, r, p, s, rr, alpha = state
            x, r = x + alpha * p, r - alpha * s
            w = times(r)
            new, rw = dots(r, w)
            beta = new / rr
            return x, r, r + beta * p, w + beta * s, new, new / (rw - beta * new / alpha)

        w = times(b)
        rr, rw = dots(b, w)
        return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, w, rr, rr / rw))[0]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)
