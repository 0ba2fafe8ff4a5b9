# failed: trusts-the-compiler
# points: 3
import jax
import jax.numpy as jnp
import shardlab as sl

sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0})


def batch_fft(mesh, x):
    return jnp.fft.fft(x)
