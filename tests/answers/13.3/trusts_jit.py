# failed: gathers-everything
# points: 3
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 8192, "slabs": 16, "pencils": 256})


def pencil_fft(mesh, x):
    return jnp.fft.fftn(x)
