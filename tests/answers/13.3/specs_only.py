# passed
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P, lax

sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 8192, "slabs": 16, "pencils": 256})


def pencil_fft(mesh, x):
    def along(axis, *spec):
        return jax.shard_map(lambda b: jnp.fft.fft(b, axis=axis), mesh=mesh, in_specs=P(*spec), out_specs=P(*spec))

    x = along(2, "x", "y", None)(x)
    x = along(1, "x", None, "y")(x)
    return along(0, None, "x", "y")(x)
