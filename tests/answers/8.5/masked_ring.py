# passed
# points: 3
import jax
import jax.numpy as jnp

P = jax.P


def stencil(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        down = [(d, (d + 1) % n) for d in range(n)]
        up = [((d + 1) % n, d) for d in range(n)]
        d = jax.lax.axis_index("x")
        above = jnp.where(d > 0, jax.lax.ppermute(block[-1:], "x", down), 0)
        below = jnp.where(d < n - 1, jax.lax.ppermute(block[:1], "x", up), 0)
        rows = jnp.concatenate([above, block, below])
        return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
