"""Claims of chapter 0."""

from __future__ import annotations

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import CPU, GPU, THREE, V5E, claim

MESH = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
EVERYWHERE = NamedSharding(MESH, jax.P())


def drawn(*shape, spec=()):
    """Random numbers in a place."""
    return jax.device_put(np.random.default_rng(0).normal(size=shape).astype("float32"), NamedSharding(MESH, jax.P(*spec)))


def matmul(a, b):
    """The product of the page."""
    return a @ b


@claim("Not a byte was sent from one device to another", targets=THREE)
def rows_alone(target):
    """Rows of A by a copied B."""
    assert sl.inspect(matmul, drawn(64, 32, spec=("x",)), drawn(32, 16), target=target).kinds == frozenset()


@claim("lays a float32 matrix out in tiles, here of 8 by 128 elements",
       "Where an array's sizes are multiples of the tile's sizes", targets=(V5E,))  # fmt: skip
def tiles(target):
    """Small arrays are padded, and large ones are not."""
    small = sl.inspect(matmul, drawn(64, 32, spec=("x",)), drawn(32, 16), target=target)
    assert "T(8,128)" in small.hlo and small.memory.argument == 12_288
    large = drawn(64, 256, spec=("x",)), drawn(256, 128)
    here, there = (sl.inspect(matmul, *large, target=each).memory for each in (CPU, V5E))
    assert (here.argument, here.output) == (there.argument, there.output)


@claim(
    "The call of a large product returns as soon as the work is handed over",
    "a call hands the work over and returns at once",
)
def asynchronous():
    """The array of a large product is there before its numbers are."""
    large = np.random.default_rng(1).normal(size=(2048, 2048)).astype("float32")
    fast = jax.jit(matmul)
    a = jax.device_put(large, jax.devices()[0])
    jax.block_until_ready(fast(a, a))
    product = fast(a, a)
    assert not product.is_ready()
    assert jax.block_until_ready(product).is_ready()


@claim("All rows of A are sent to every device, and every device does all the work", targets=THREE)
def careful(target):
    """A constraint for all of A."""
    rows = drawn(64, 32, spec=("x",)), drawn(32, 16)
    alone = sl.inspect(matmul, *rows, target=target)
    seen = sl.inspect(lambda a, b: jax.lax.with_sharding_constraint(a, EVERYWHERE) @ b, *rows, target=target)
    assert seen.kinds == {"all-gather"}
    assert seen.flops >= 8 * alone.flops


@claim(
    "sends bfloat16 where the CPU sends float32", "multiplies float32 matrices in bfloat16 unless it is told otherwise",
    "XLA for GPU keeps float32", targets=(V5E, GPU),
)  # fmt: skip
def rounding(target):
    """What is gathered to be multiplied has two bytes an element on a TPU, and four if it keeps float32."""
    rows = drawn(64, 256, spec=("x",)), drawn(256, 128, spec=("x",))
    assert sl.inspect(matmul, *rows).price == 4 * 256 * 128
    assert sl.inspect(matmul, *rows, target=target).price == (4 if target == GPU else 2) * 256 * 128
    with jax.default_matmul_precision("float32"):
        assert sl.inspect(matmul, *rows, target=target).price == 4 * 256 * 128
