# passed
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.5", loop={"gathered": 256, "runs": 19, "bytes": 1588})


def cg(mesh, A, b):
    def body(A, b):
        rows = b.size

        def step(_, state):
            x, r, p = state
            q = lax.all_gather(A @ p, "x", tiled=True)
            alpha = (r @ r) / (p @ q)
            new = r - alpha * q
            return x + alpha * p, new, new + (new @ new) / (r @ r) * p

        b = lax.all_gather(b, "x", tiled=True)
        x, _, _ = lax.fori_loop(0, 6, step, (b - b, b, b))
        return lax.dynamic_slice_in_dim(x, lax.axis_index("x") * rows, rows)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)
