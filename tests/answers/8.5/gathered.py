# failed: gathers-everything
# points: 2
import jax
import jax.numpy as jnp

P = jax.P


def stencil(mesh, x):
    def body(block):
        rows = jnp.pad(jax.lax.all_gather(block, "x", tiled=True), ((1, 1), (0, 0)))
        rows = rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]
        m = block.shape[0]
        return jax.lax.dynamic_slice_in_dim(rows, jax.lax.axis_index("x") * m, m)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
