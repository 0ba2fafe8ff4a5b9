import jax
import jax.numpy as jnp
from jax import P, lax

from shardlab_course.answers import right, wrong


@wrong("one-dimension-left-out", 0)
def columns_only():
    def slab_fft(mesh, x):
        def body(block):
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("cut-dimension-transformed", 0)
def exchange_first():
    def slab_fft(mesh, x):
        def body(block):
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft2(block)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("gathers-everything", 8)
def gather_and_slice():
    def slab_fft(mesh, x):
        def body(block):
            whole = jnp.fft.fft2(lax.all_gather(block, "x", tiled=True))
            width = whole.shape[1] // mesh.shape["x"]
            return lax.dynamic_slice_in_dim(whole, lax.axis_index("x") * width, width, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("goes-home", 4)
def goes_home():
    def slab_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            block = jnp.fft.fft(block, axis=0)
            return lax.all_to_all(block, "x", 0, 1, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("inverse-transform", 0)
def inverse():
    def slab_fft(mesh, x):
        def body(block):
            block = jnp.fft.ifft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.ifft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("rows-again", 0)
def last_axis_again():
    def slab_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft(block)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("no-exchange", 0)
def no_exchange():
    def slab_fft(mesh, x):
        return jax.shard_map(jnp.fft.fft2, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("output-is-transposed", 0)
def output_is_transposed():
    def slab_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@right
def permutes():
    def slab_fft(mesh, x):
        def body(block):
            n, me = mesh.shape["x"], lax.axis_index("x")
            block = jnp.fft.fft(block)
            rows, width = block.shape[0], block.shape[1] // n
            whole = jnp.zeros((rows * n, width), block.dtype)
            for step in range(n):
                part = lax.dynamic_slice_in_dim(block, (me + step) % n * width, width, axis=1)
                if step:
                    part = lax.ppermute(part, "x", [(i, (i + step) % n) for i in range(n)])
                whole = lax.dynamic_update_slice_in_dim(whole, part, (me - step) % n * rows, axis=0)
            return jnp.fft.fft(whole, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@right
def reshard_between():
    from jax.sharding import NamedSharding

    def slab_fft(mesh, x):
        rows, columns = P("x", None), P(None, "x")
        y = jax.shard_map(jnp.fft.fft, mesh=mesh, in_specs=rows, out_specs=rows)(x)
        y = jax.lax.with_sharding_constraint(y, NamedSharding(mesh, columns))
        return jax.shard_map(lambda b: jnp.fft.fft(b, axis=0), mesh=mesh, in_specs=columns, out_specs=columns)(y)


@wrong("one-dimension-left-out", 0)
def rows_only():
    def slab_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return block

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("one-dimension-twice", 0)
def rows_twice():
    def slab_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=1)
            block = jnp.fft.fft(block, axis=1)
            return lax.all_to_all(block, "x", 1, 0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("split-and-concat-swapped", 0)
def swapped():
    def slab_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 0, 1, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@right
def transposed_blocks():
    def slab_fft(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            block = jnp.fft.fft(block)
            parts = jnp.stack(jnp.split(block, n, axis=1))
            mine = lax.all_to_all(parts, "x", 0, 0)
            return jnp.fft.fft(jnp.concatenate(list(mine)), axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("gathers-everything", 4)
def trusts_jit():
    def slab_fft(mesh, x):
        return jnp.fft.fft2(x)


@right
def two_shard_maps():
    def slab_fft(mesh, x):
        def along(axis, spec):
            return jax.shard_map(lambda b: jnp.fft.fft(b, axis=axis), mesh=mesh, in_specs=spec, out_specs=spec)

        return along(0, P(None, "x"))(along(1, P("x"))(x))


@wrong("not-tiled", 0)
def untiled():
    def slab_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block)
            block = lax.all_to_all(block, "x", 1, 0)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("cut-and-whole", 0)
def columns_before_and_after():
    def slab_fft(mesh, x):
        def body(block):
            block = lax.all_to_all(jnp.fft.fft(block, axis=0), "x", 1, 0, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)
