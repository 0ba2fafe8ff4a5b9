"""Claims of chapter 2."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import CPU, GPU, THREE, V5E, claim

P = jax.P
MESH = jax.make_mesh((4, 2), ("x", "y"), (AxisType.Explicit, AxisType.Explicit))
TERMS, TERMS_Y = P(None, None, unreduced={"x"}), P("x", None, unreduced={"y"})


def moving(before, after, target, shape=(8, 16)):
    """What it takes to go from one spec to another."""
    described = jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(MESH, before))
    with jax.set_mesh(MESH):
        return sl.inspect(lambda a: jax.reshard(a, after), described, target=target)


@claim("A subscript that disappears is an all-gather", "that disappears is an all-reduce",
       "changes its dimension is an all-to-all", targets=THREE)  # fmt: skip
def subscripts(target):
    """Moves that both compilers make alike, and their prices."""
    for before, after, kind, price in (
        (P("x", None), P(None, None), "all-gather", 512),
        (P(("x", "y"), None), P("x", None), "all-gather", 128),
        (P("x", "y"), P(None, "y"), "all-gather", 256),
        (TERMS, P(None, None), "all-reduce", 1024),
        (TERMS_Y, P("x", None), "all-reduce", 256),
        (P("x", None), P(None, "x"), "all-to-all", 128),
        (P(("x", "y"), None), P(("y", "x"), None), "collective-permute", 64),
    ):
        program = moving(before, after, target)
        assert (program.kinds, program.price) == ({kind}, price)


@claim("A *new* subscript is free if it stands alone, or last in its tuple.",
       "This holds for a subscript that stands alone or last in its tuple. If another follows it, the blocks also have to "
       "change devices, by a collective-permute.",
       targets=THREE)  # fmt: skip
def new_subscripts(target):
    """Free are parts of what a device has; the others are permutes."""
    for before, after, kinds in (
        (P(None, None), P("x", None), set()),
        (P("x", None), P("x", "y"), set()),
        (P("x", None), P(("x", "y"), None), set()),
        (P("y", None), P(("y", "x"), None), set()),
        (P("x", None), P(("y", "x"), None), {"collective-permute"}),
        (P("y", None), P(("x", "y"), None), {"collective-permute"}),
        (P(("y", "x"), None), P("y", None), {"all-gather"}),
        (P(("x", "y"), None), P("y", None), {"all-gather", "collective-permute"}),
        (P("x", "y"), P(None, ("y", "x")), {"all-to-all"}),
        (P("x", "y"), P(None, ("x", "y")), {"all-to-all", "collective-permute"}),
    ):
        assert moving(before, after, target).kinds == kinds


@claim("For `c` and `j` XLA for CPU makes an all-reduce and lets each device throw away the rest.",
       "XLA for CPU compiles c and j to all-reduces and slices")  # fmt: skip
def cpu_does_not_scatter():
    """At the page's size, and at a larger one."""
    for shape in ((8, 16), (256, 512)):
        assert moving(TERMS, P("x", None), CPU, shape).kinds == {"all-reduce"}
        assert moving(TERMS_Y, P("x", "y"), CPU, shape).kinds == {"all-reduce"}


@claim("XLA for TPU does the same with an array as small as this. For a larger array it makes a "
    "reduce-scatter", "XLA for GPU makes a reduce-scatter for both sizes.",
       targets=(V5E, GPU))  # fmt: skip
def tpu_scatters(target):
    """From some size on, or always."""
    for before, after in ((TERMS, P("x", None)), (TERMS_Y, P("x", "y"))):
        assert moving(before, after, target).kinds == {"reduce-scatter" if target == GPU else "all-reduce"}
        assert moving(before, after, target, (256, 512)).kinds == {"reduce-scatter"}


@claim("Written by hand, in a function of one device's block (chapter 7), it is one line", targets=THREE)
def by_hand(target):
    """A reduce-scatter in `shard_map`, of an array that is large enough for both compilers."""

    def scatter(block):
        return jax.lax.psum_scatter(block, "x", scatter_dimension=0, tiled=True)

    mapped = jax.shard_map(scatter, mesh=MESH, in_specs=TERMS, out_specs=P("x", None))
    given = jax.ShapeDtypeStruct((256, 512), "float32", sharding=NamedSharding(MESH, TERMS))
    program = sl.inspect(mapped, given, target=target)
    assert program.kinds == {"reduce-scatter"} and program.price == 4 * 256 * 512


@claim("JAX refuses most uses of such a sum before it is added up", "cuts off the fraction of every term")
def unreduced():
    """A sum and 1, itself, and what is left of its terms as whole numbers."""
    rng = np.random.default_rng(2)
    left = jax.device_put(rng.normal(size=(4, 8)), NamedSharding(MESH, P(None, "x")))
    right = jax.device_put(rng.normal(size=(8, 8)), NamedSharding(MESH, P("x", None)))
    with jax.set_mesh(MESH):
        terms = jax.numpy.dot(left, right, out_sharding=TERMS)
        assert "{U:x}" in str(jax.typeof(terms))
        with pytest.raises(Exception, match="unreduced"):
            terms + 1
        added, cut = (jax.reshard(x, P(None, None)) for x in (terms, terms.astype("int32")))
        assert "{U:x}" in str(jax.typeof(terms + terms)) and "{U:x}" in str(jax.typeof(terms.T))
    a, b = np.asarray(left), np.asarray(right)
    of_each = zip(np.split(a, MESH.shape["x"], 1), np.split(b, MESH.shape["x"]))
    np.testing.assert_allclose(added, a @ b, rtol=1e-4)
    np.testing.assert_array_equal(cut, sum((rows @ columns).astype("int32") for rows, columns in of_each))


@claim("XLA for CPU would turn bfloat16 into float32")
def bfloat16():
    """Twice the bytes are gathered, and not on a TPU."""
    given = jax.ShapeDtypeStruct((64, 256), "bfloat16", sharding=NamedSharding(MESH, P("x", None)))
    with jax.set_mesh(MESH):
        assert sl.inspect(lambda a: jax.reshard(a, P(None, None)), given).price == 4 * 64 * 256
