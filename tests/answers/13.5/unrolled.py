# passed
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.5", loop={"gathered": 256, "runs": 19, "bytes": 1588})


def cg(mesh, A, b):
    @jax.shard_map(mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    def solve(A, b):
        x, r, p = jnp.zeros_like(b), b, b
        rr = lax.psum(r @ r, "x")
        for _ in range(6):
            q = A @ lax.all_gather(p, "x", tiled=True)
            alpha = rr / lax.psum(p @ q, "x")
            x, r, before = x + alpha * p, r - alpha * q, rr
            rr = lax.psum(r @ r, "x")
            p = r + rr / before * p
        return x

    return solve(A, b)
