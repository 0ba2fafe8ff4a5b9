# failed: trusts-the-compiler
# points: 3
import jax
import jax.numpy as jnp
import shardlab as sl

sl.predict("13.1", moved={"fft": 0, "vmap": 0, "explicit": 65536, "product": 0})


def batch_fft(mesh, x):
    spec = jax.P(mesh.axis_names)
    return jax.shard_map(jnp.fft.fft, mesh=mesh, in_specs=spec, out_specs=spec)(x)
