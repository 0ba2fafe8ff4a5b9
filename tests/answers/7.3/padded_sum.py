# failed: sums-padded-blocks
# points: 2.5
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P

sl.predict("7.3", checked="ValueError", unchecked=[0.0, 1.0], true_on=1)


def honest(mesh, x):
    def body(block):
        whole = jnp.zeros(block.shape[0] * mesh.shape["x"], block.dtype)
        start = jax.lax.axis_index("x") * block.shape[0]
        padded = jax.lax.dynamic_update_slice(jax.lax.pcast(whole, "x", to="varying"), block, (start,))
        return jax.lax.psum(padded, "x")

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)
