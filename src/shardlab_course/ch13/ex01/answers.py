import jax
import jax.numpy as jnp

import shardlab as sl
from shardlab_course.answers import changed, right, told, wrong


@wrong("along-both-dimensions", 4)
def along_both():
    def batch_fft(mesh, x):
        spec = jax.P(mesh.axis_names)
        return jax.shard_map(jnp.fft.fft2, mesh=mesh, in_specs=spec, out_specs=spec)(x)


@wrong("along-the-batch", 4)
def along_the_batch():
    def batch_fft(mesh, x):
        spec = jax.P(mesh.axis_names)
        return jax.shard_map(lambda b: jnp.fft.fft(b, axis=0), mesh=mesh, in_specs=spec, out_specs=spec)(x)


@right
def as_a_product():
    def batch_fft(mesh, x):
        n = jnp.arange(x.shape[1])
        return x @ jnp.exp(-2j * jnp.pi * jnp.outer(n, n) / x.shape[1]).astype(x.dtype)


@told("bytes-of-the-block")
def bytes_of_the_block():
    from jax import P

    sl.predict("13.1", moved={"fft": 8192, "vmap": 8192, "explicit": 8192, "product": 0}, why="b", compilers=["TPU"])

    def batch_fft(mesh, x):
        spec = P(mesh.axis_names)
        return jax.shard_map(jnp.fft.fft, mesh=mesh, in_specs=spec, out_specs=spec)(x)


@wrong("along-the-batch", 4)
def columns_under_jit():

    def batch_fft(mesh, x):
        return jnp.fft.fft(x, axis=0)


@changed("0.12", wrong("trusts-the-compiler", 5.5), right)
def constrains_the_output():
    from jax.sharding import NamedSharding

    def batch_fft(mesh, x):
        y = jax.vmap(jnp.fft.fft)(x)
        return jax.lax.with_sharding_constraint(y, NamedSharding(mesh, jax.P(mesh.axis_names)))


@told("trusts-the-compiler")
def fft_only_predicted_free():
    sl.predict("13.1", moved={"fft": 0, "vmap": 0, "explicit": 65536, "product": 0}, why="b", compilers=["TPU"])


@wrong("inverse-transform", 4)
def inverse():
    def batch_fft(mesh, x):
        spec = jax.P(mesh.axis_names)
        return jax.shard_map(jnp.fft.ifft, mesh=mesh, in_specs=spec, out_specs=spec)(x)


@wrong("some-axes-only", 5.5)
def one_axis_only():
    from jax import P

    def batch_fft(mesh, x):
        return jax.shard_map(jnp.fft.fft, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@told("products-are-cut")
def products_gathered():
    sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 65536}, why="b", compilers=["TPU"])


@changed("0.12", wrong("trusts-the-compiler", 5.5), right)
def trusts_jit():
    def batch_fft(mesh, x):
        return jnp.fft.fft(x)


@told("types-are-not-traffic")
def types_are_not_traffic():
    sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 0, "product": 0}, why="b", compilers=["TPU"])


@right
def vmap_inside():
    def batch_fft(mesh, x):
        @jax.shard_map(mesh=mesh, in_specs=jax.P(mesh.axis_names), out_specs=jax.P(mesh.axis_names))
        def rows(block):
            return jax.vmap(jnp.fft.fft)(block)

        return rows(x)


@told("mathematics-decides")
def mathematics_decides():
    sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0}, why="a", compilers=["TPU"])


@told("saying-it-helps")
def saying_it_helps():
    sl.predict("13.1", moved={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0}, why="c", compilers=["TPU"])


@wrong("trusts-the-compiler", 5.5)
def manual_gather():
    def batch_fft(mesh, x):
        from jax import lax

        spec = jax.P(mesh.axis_names)

        def body(b):
            w = jnp.fft.fft(lax.all_gather(b, mesh.axis_names, tiled=True))
            return lax.dynamic_slice_in_dim(w, lax.axis_index(mesh.axis_names) * len(b), len(b))

        return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec)(x)
