"""Claims of chapter 4."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import CPU, GPU, THREE, claim, tpu
from shardlab_course.chapters import QUESTIONS

AUTO = (AxisType.Auto, AxisType.Auto)
MESH = jax.make_mesh((4, 2), ("x", "y"), AUTO)
LINE = jax.make_mesh((8,), ("x",), AUTO[:1])
ROWS, COLUMNS = P("x", None), P(None, "x")
RNG = np.random.default_rng(4)


def put(shape, spec, dtype="float32"):
    """Random numbers on the mesh."""
    return jax.device_put(RNG.normal(size=shape).astype(dtype), NamedSharding(MESH, spec))


def page(left, right):
    """A of 8 by 12 and B of 12 by 16, as on the page."""
    return put((8, 12), left), put((12, 16), right)


def matmul(a, b):
    """The product."""
    return a @ b


def moved(f, *args, target):
    """Kind and dtype of each collective."""
    return {(c.kind, c.dtype) for c in sl.inspect(f, *args, target=target).collectives}


def gathered(target):
    """The dtype in which a float32 operand of a product is gathered."""
    return "bf16" if tpu(target) else "f32"


@claim("It does not: here not one byte moves.", targets=THREE)
def case_1(target):
    """Rows by columns: nothing, and an eighth of the work."""
    p = sl.inspect(matmul, *page(ROWS, P(None, "y")), target=target)
    assert p.kinds == frozenset()
    assert p.flops == 2 * 8 * 12 * 16 / 8


@claim(
    "A gather brings data together and divides no work.",
    "What divides the work is what is still cut after it.",
    targets=THREE,
)
def what_divides(target):
    """With B whole everyone does all; with rows of A cut, a quarter. A TPU counts some conversions as well."""
    whole, rows = page(COLUMNS, P()), page(ROWS, ROWS)
    for blocks, work in ((whole, 3072), (rows, 768)):
        p = sl.inspect(matmul, *blocks, target=target)
        assert p.kinds == {"all-gather"}
        assert work <= p.flops < 1.1 * work


@claim("on `Auto` axes XLA puts it in for you", "Terms are added in float32 either way", targets=THREE)
def case_3(target):
    """One all-reduce of C, in float32."""
    (found,) = sl.inspect(matmul, *page(COLUMNS, ROWS), target=target).collectives
    assert (found.kind, found.dtype, found.payload_bytes) == ("all-reduce", "f32", 8 * 16 * 4)


@claim("The smaller one, $A$.", "each device computes its quarter of them", targets=THREE)
def case_4(target):
    """A is gathered, and C comes out in columns."""
    p = sl.inspect(matmul, *page(ROWS, COLUMNS), target=target)
    (found,) = p.collectives
    assert (found.kind, found.payload_bytes) == ("all-gather", 8 * 12 * (2 if tpu(target) else 4))
    assert p.output_placements[0].shard_shape == (8, 4)
    assert p.flops < 1.1 * 3072 / 4


@claim(
    "XLA for v5e uses the same collectives, with half the bytes for the gathers.",
    'With `precision="highest"` it gathers float32.',
    "XLA for GPU gathers float32",
    targets=THREE,
)
def precision(target):
    """What a float32 operand is gathered as."""
    blocks = page(COLUMNS, P())
    assert moved(matmul, *blocks, target=target) == {("all-gather", gathered(target))}
    precise = moved(lambda a, b: jnp.dot(a, b, precision="highest"), *blocks, target=target)
    assert precise == {("all-gather", "f32")}


def shapes(i, j, k, on):
    """The page's operands of case 2, as shapes."""
    a, b = ((i, j), COLUMNS), ((j, k), P())
    return [jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(on, spec)) for shape, spec in (a, b)]


@claim("XLA for TPU and for GPU choose the same kinds as XLA for CPU", targets=THREE)
def deep_and_wide(target):
    """On one axis of eight the deep one is reduced; on 4 by 2 both are gathered."""
    deep, wide = (64, 4096, 64), (64, 64, 4096)
    for size, on, kind in (
        (deep, LINE, "all-reduce"), (wide, LINE, "all-gather"), (deep, MESH, "all-gather"), (wide, MESH, "all-gather"),
    ):  # fmt: skip
        assert sl.inspect(matmul, *shapes(*size, on), target=target).kinds == {kind}


@claim("On a TPU, where the gather moves bfloat16 and the sum float32, the border is $J > 4K$.")
def crossing():
    """Two bytes an element of A, eight an element of C."""
    for j, k in ((4 * 16 - 8, 16), (4 * 16 + 8, 16)):
        gather, reduce = 2 * 8 * j, 2 * 4 * 8 * k
        assert (gather > reduce) == (j > 4 * k)


ROWS_OUT = jax.jit(matmul, out_shardings=NamedSharding(MESH, ROWS))


def scattered(a, b):
    """Exercise 4.5's solution."""
    return jax.shard_map(
        lambda a, b: jax.lax.psum_scatter(a @ b, "x", scatter_dimension=0, tiled=True),
        mesh=MESH, in_specs=(COLUMNS, ROWS), out_specs=ROWS,
    )(a, b)  # fmt: skip


@claim(
    "XLA for v5e uses the reduce-scatter for some shapes and not for others",
    "uses a reduce-scatter for both requests",
    targets=THREE,
    alone=True,
)
def asked_for_rows(target):
    """CPU: all-reduce always. TPU: small ones. GPU: never."""
    larger = "all-reduce" if target is CPU else "reduce-scatter"
    small = "reduce-scatter" if target == GPU else "all-reduce"
    assert sl.inspect(ROWS_OUT, *page(COLUMNS, ROWS), target=target).kinds == {small}
    assert sl.inspect(ROWS_OUT, put((64, 64), COLUMNS), put((64, 64), ROWS), target=target).kinds == {larger}


@claim("(For 64 by 64, XLA for v4 does not use one yet.)", targets=("v4:2x2x2",))
def asked_for_rows_on_v4(target):
    """An all-reduce of 64 by 64, and a reduce-scatter of more."""
    for size, kind in ((64, "all-reduce"), (512, "reduce-scatter")):
        assert sl.inspect(ROWS_OUT, put((size, size), COLUMNS), put((size, size), ROWS), target=target).kinds == {kind}


@claim(
    "XLA for CPU compiles the collective that you wrote.",
    "it turns `psum_scatter` of these 8 by 16 numbers into an all-reduce and a slice",
    "and keeps the reduce-scatter for 64 by 64. Bytes alone do not decide",
    "for 16 by 65,536 it makes an all-reduce again.",
    "compiles each of these three `psum_scatter` as it is written",
    targets=THREE,
    alone=True,
)
def written_by_hand(target):
    """psum_scatter, small, 32 by 32, and 64 by 64."""
    small = "all-reduce" if tpu(target) else "reduce-scatter"
    assert sl.inspect(scattered, *page(COLUMNS, ROWS), target=target).kinds == {small}
    assert sl.inspect(scattered, put((32, 32), COLUMNS), put((32, 32), ROWS), target=target).kinds == {small}
    assert sl.inspect(scattered, put((64, 64), COLUMNS), put((64, 64), ROWS), target=target).kinds == {"reduce-scatter"}
    flat = [
        jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(MESH, spec))
        for shape, spec in (((16, 64), COLUMNS), ((64, 65536), ROWS))
    ]
    assert sl.inspect(scattered, *flat, target=target).kinds == {small}


@claim("Over one axis of eight v5p chips (2 by 2 by 2) it did so for every array tried", targets=("v5p:2x2x2",))
def over_all_axes_of_a_cube(target):
    """psum_scatter over eight, of squares up to 4096."""
    line = jax.make_mesh((8,), ("x",), (jax.sharding.AxisType.Auto,))
    for size in (64, 512, 4096):
        specs = (P(None, "x"), P("x", None))
        a, b = (jax.ShapeDtypeStruct((size, size), "float32", sharding=NamedSharding(line, spec)) for spec in specs)
        f = jax.shard_map(
            lambda a, b: jax.lax.psum_scatter(a @ b, "x", scatter_dimension=0, tiled=True),
            mesh=line, in_specs=specs, out_specs=P("x", None),
        )  # fmt: skip
        assert sl.inspect(f, a, b, target=target).kinds == {"all-reduce"}


@claim(
    "On CPU, an all-reduce of bfloat16 arrays runs in float32, at twice the bytes; on a TPU or a GPU it stays bfloat16:",
    targets=THREE,
)
def half_precision(target):
    """Case 3 of bfloat16."""
    blocks = [x.astype(jnp.bfloat16) for x in page(COLUMNS, ROWS)]
    assert moved(matmul, *blocks, target=target) == {("all-reduce", "f32" if target is CPU else "bf16")}


@claim("The all-reduce runs over `y` alone, in groups of 2, on a quarter of $C$.", targets=THREE)
def two_axes(target):
    """Blocks of A by rows of B."""
    (found,) = sl.inspect(matmul, *page(P("x", "y"), P("y", None)), target=target).collectives
    assert (found.kind, found.axes, found.payload_bytes) == ("all-reduce", ("y",), 2 * 16 * 4)


@claim(
    "That is case 3, at a higher price here. For the deep product of exercise 4.4 it is cheaper, and XLA for CPU does it.",
    "With $B$ whole, the two devices that hold the same rows of $A$ do the same product",
)
def blocks_and_others():
    """One all-gather over y, cheaper than the sum of block times row; B whole has twice the FLOPs, and a sum if deep."""
    block = P("x", "y")
    row, column, whole = (sl.inspect(matmul, *page(block, spec)) for spec in (P("y", None), P(None, "y"), P()))
    for found in (column, whole):
        assert [(c.kind, c.axes) for c in found.collectives] == [("all-gather", ("y",))] and found.price < row.price
    assert whole.flops == 2 * column.flops and row.kinds == {"all-reduce"}
    assert sl.inspect(matmul, put((64, 4096), block), put((4096, 64), P())).kinds == {"all-reduce"}


@claim("The check uses 16 einsums here and 200 more when you hand in.")
def einsums():
    """As exercise 4.1 declares."""
    (item,) = QUESTIONS["4.1"].items
    assert (len(item.calls), item.drawn) == (16, 200)
