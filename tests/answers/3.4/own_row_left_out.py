# failed: own-row-left-out
# points: 0.5
import jax
import jax.numpy as jnp
import shardlab as sl

sl.predict("3.4", roll_bytes=512)


def running_total(mesh, x):
    blocks = x.reshape(mesh.shape["x"], -1, x.shape[1])
    within = jnp.cumsum(blocks, axis=1)
    totals = within[:, -1]
    before = jnp.cumsum(totals, axis=0) - totals
    return (within - blocks + before[:, None]).reshape(x.shape)
