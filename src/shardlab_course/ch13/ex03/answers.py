import jax
import jax.numpy as jnp
from jax import P, lax

import shardlab as sl
from shardlab_course.answers import right, told, wrong


@wrong("cut-dimension-transformed", 5.5)
def all_local():
    def pencil_fft(mesh, x):
        return jax.shard_map(jnp.fft.fftn, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("another-route")
def another_route():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "x", 2, 0, tiled=True)
            block = jnp.fft.fft(block, axis=0)
            block = lax.all_to_all(block, "y", 0, 1, tiled=True)
            return jnp.fft.fft(block, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("y", None, "x"))(x)


@told("one-exchange")
def bytes_of_one_exchange():
    sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 4096, "slabs": 16, "pencils": 256})


@told("bytes-of-the-cube")
def bytes_of_the_cube():
    sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 65536, "slabs": 16, "pencils": 256})


@told("own-part-left-out")
def bytes_without_own_part():
    sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 5120, "slabs": 16, "pencils": 256})


@told("counts-the-mesh")
def counts_the_mesh():
    sl.predict("13.3", pencils={"first": 8, "second": 8, "bytes": 8192, "slabs": 16, "pencils": 256})


@wrong("one-dimension-left-out", 5.5)
def first_left_out():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "y", 2, 1, tiled=True)
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return block

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)


@wrong("goes-home", 8.5)
def goes_home():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "y", 2, 1, tiled=True)
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            block = jnp.fft.fft(block, axis=0)
            block = lax.all_to_all(block, "x", 0, 1, tiled=True)
            return lax.all_to_all(block, "y", 1, 2, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@told("first-and-second-swapped")
def groups_swapped():
    sl.predict("13.3", pencils={"first": 4, "second": 2, "bytes": 8192, "slabs": 16, "pencils": 256})


@wrong("inverse-transform", 5.5)
def inverse():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.ifft(block, axis=2)
            block = lax.all_to_all(block, "y", 2, 1, tiled=True)
            block = jnp.fft.ifft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.ifft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)


@wrong("one-dimension-left-out", 5.5)
def last_left_out():
    def pencil_fft(mesh, x):
        def body(block):
            block = lax.all_to_all(block, "y", 2, 1, tiled=True)
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)


@wrong("one-dimension-left-out", 5.5)
def middle_left_out():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "y", 2, 1, tiled=True)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)


@wrong("not-tiled", 5.5)
def not_tiled():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "y", 2, 1)
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)


@wrong("cut-dimension-transformed", 5.5)
def one_exchange():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "y", 2, 1, tiled=True)
            block = jnp.fft.fft(block, axis=1)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", None, "y"))(x)


@wrong("one-dimension-left-out", 5.5)
def one_exchange_left_out():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "y", 2, 1, tiled=True)
            return jnp.fft.fft(block, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", None, "y"))(x)


@right
def real_and_imaginary_apart():
    def pencil_fft(mesh, x):
        def body(block):
            def exchange(block, axis, split, concat):
                parts = (lax.all_to_all(part, axis, split, concat, tiled=True) for part in (block.real, block.imag))
                return lax.complex(*parts)

            block = jnp.fft.fft(block, axis=2)
            block = exchange(block, "y", 2, 1)
            block = jnp.fft.fft(block, axis=1)
            block = exchange(block, "x", 1, 0)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)


@told("slab-is-one-dimension")
def slabs_wrong():
    sl.predict("13.3", pencils={"first": 2, "second": 4, "bytes": 8192, "slabs": 8, "pencils": 8})


@wrong("specs-of-the-input", 5.5)
def specs_of_the_input():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "y", 2, 1, tiled=True)
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@right
def specs_only():
    def pencil_fft(mesh, x):
        def along(axis, *spec):
            return jax.shard_map(lambda b: jnp.fft.fft(b, axis=axis), mesh=mesh, in_specs=P(*spec), out_specs=P(*spec))

        x = along(2, "x", "y", None)(x)
        x = along(1, "x", None, "y")(x)
        return along(0, None, "x", "y")(x)


@wrong("split-and-concat-swapped", 5.5)
def swapped():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block, axis=2)
            block = lax.all_to_all(block, "y", 1, 2, tiled=True)
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)


@right
def transposed_blocks():
    def pencil_fft(mesh, x):
        def body(block):
            block = jnp.fft.fft(block)
            block = lax.all_to_all(block, "y", 2, 1, tiled=True).transpose(0, 2, 1)
            block = jnp.fft.fft(block)
            block = lax.all_to_all(block, "x", 2, 0, tiled=True).transpose(2, 1, 0)
            return jnp.fft.fft(block).transpose(2, 0, 1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)


@wrong("gathers-everything", 8.5)
def trusts_jit():
    def pencil_fft(mesh, x):
        return jnp.fft.fftn(x)


@wrong("across-the-whole-mesh", 11.5)
def whole_mesh():
    def pencil_fft(mesh, x):
        def body(block):
            # All devices to all: x and y as if they were one axis, with empty messages where none are due.
            n, m = mesh.shape["x"], mesh.shape["y"]
            block = jnp.fft.fft(block, axis=2)
            parts = jnp.stack(jnp.split(block, m, axis=2))
            send = jnp.zeros((n, *parts.shape), parts.dtype).at[lax.axis_index("x")].set(parts)
            got = lax.all_to_all(send.reshape(n * m, *block.shape[:2], -1), ("x", "y"), 0, 0)
            block = jnp.concatenate(list(got.reshape(n, m, *block.shape[:2], -1)[lax.axis_index("x")]), axis=1)
            block = jnp.fft.fft(block, axis=1)
            block = lax.all_to_all(block, "x", 1, 0, tiled=True)
            return jnp.fft.fft(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "x", "y"))(x)
