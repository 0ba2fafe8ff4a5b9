# failed: neighbours-mixed-up
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def stencil(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        down = [(d, d + 1) for d in range(n - 1)]
        up = [(d + 1, d) for d in range(n - 1)]
        above = jax.lax.ppermute(block[:1], "x", down)
        below = jax.lax.ppermute(block[-1:], "x", up)
        rows = jnp.concatenate([above, block, below])
        return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
