# failed: sends-whole-blocks
# points: 2
import jax
import jax.numpy as jnp

P = jax.P


def stencil(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        down = [(d, d + 1) for d in range(n - 1)]
        up = [(d + 1, d) for d in range(n - 1)]
        above = jax.lax.ppermute(block, "x", down)
        below = jax.lax.ppermute(block, "x", up)
        rows = jnp.concatenate([above[-1:], block, below[:1]])
        return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
