# failed: sums-counted-twice
# points: 4
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.5", loop={"gathered": 256, "runs": 19, "bytes": 1640})


def cg(mesh, A, b):
    def body(A, b):
        def dot(u, v):
            return lax.psum(jnp.vdot(u, v), "x")

        def step(_, state):
            x, r, p, rr = state
            q = A @ lax.all_gather(p, "x", tiled=True)
            alpha = rr / dot(p, q)
            x, r = x + alpha * p, r - alpha * q
            new = dot(r, r)
            return x, r, r + new / rr * p, new

        return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)
