# failed: along-the-batch
# points: 2
import jax
import jax.numpy as jnp
import shardlab as sl

sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0})


def batch_fft(mesh, x):
    spec = jax.P(mesh.axis_names)
    return jax.shard_map(lambda b: jnp.fft.fft(b, axis=0), mesh=mesh, in_specs=spec, out_specs=spec)(x)
