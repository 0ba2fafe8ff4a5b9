# failed: no-exchange
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def stencil(mesh, x):
    def body(block):
        rows = jnp.pad(block, ((1, 1), (0, 0)))
        return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
