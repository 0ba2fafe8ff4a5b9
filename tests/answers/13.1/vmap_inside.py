# passed
import jax
import jax.numpy as jnp
import shardlab as sl

sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0})


def batch_fft(mesh, x):
    @jax.shard_map(mesh=mesh, in_specs=jax.P(mesh.axis_names), out_specs=jax.P(mesh.axis_names))
    def rows(block):
        return jax.vmap(jnp.fft.fft)(block)

    return rows(x)
