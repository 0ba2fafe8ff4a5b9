# failed: other-dimension
# points: 0.5
import jax
import jax.numpy as jnp
import shardlab as sl

sl.predict("3.4", roll_bytes=512)


def running_total(mesh, x):
    return jnp.cumsum(x, axis=1)
