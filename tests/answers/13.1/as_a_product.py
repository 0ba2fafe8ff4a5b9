# passed
import jax
import jax.numpy as jnp
import shardlab as sl

sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0})


def batch_fft(mesh, x):
    n = jnp.arange(x.shape[1])
    return x @ jnp.exp(-2j * jnp.pi * jnp.outer(n, n) / x.shape[1]).astype(x.dtype)
