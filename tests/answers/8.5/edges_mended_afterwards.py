# passed
# points: 3
import jax
import jax.numpy as jnp

P = jax.P


def stencil(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        down = [(d, d + 1) for d in range(n - 1)]
        up = [(d + 1, d) for d in range(n - 1)]
        rows = jnp.pad(block, ((1, 1), (0, 0)))
        inner = rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]
        inner = inner.at[0].add(jax.lax.ppermute(block[-1], "x", down))
        return inner.at[-1].add(2 * jax.lax.ppermute(block[0], "x", up))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
