"""Claims of chapter 5."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import THREE, V5E, claim
from shardlab_course.chapters import QUESTIONS

RNG = np.random.default_rng(5)
ARRAYS = [RNG.normal(size=shape).astype("float32") for shape in ((8, 128), (128, 256), (256, 64))]
COPIES = "... -> * ..."


def mlp(X, W1, W2):
    """The network of the chapter."""
    return jax.nn.relu(X @ W1) @ W2


def compiled(*layout, mesh=None, target=None):
    """What the network compiles to."""
    placed = (sl.einshard(array, text, mesh) for array, text in zip(ARRAYS, layout))
    return sl.inspect(mlp, *placed, target=target)


def named(data):
    """A mesh for both kinds of parallelism."""
    return jax.make_mesh((data, 8 // data), ("data", "model"), (AxisType.Auto, AxisType.Auto))


@claim("XLA, for CPU and for TPU, makes one all-reduce either way, over 'model'.", "so twice the bytes", targets=THREE)
def degrees(target):
    """Degree 2 and degree 4."""
    layout = "b x -> b@data x", "x y -> x y@model", "y z -> y@model z"
    two, four = (compiled(*layout, mesh=named(data), target=target) for data in (4, 2))
    for p in (two, four):
        assert [(c.kind, c.axes) for c in p.collectives] == [("all-reduce", ("model",))]
    assert four.price == 2 * two.price


@claim("on two different meshes, so their blocks do not fit, and XLA gathers", targets=THREE)
def forgotten(target):
    """Degree 4 in two lines, degree 2 in the third."""
    p = compiled("b x -> b2 4 x", "x y -> 2 x y4", "y z -> 4 y2 z", target=target)
    assert "all-gather" in p.kinds


@claim(
    "If only W1 is cut, XLA, for CPU and for TPU, lets each device take its rows of a whole W2",
    "Cutting only `W1` compiles to the same collective as cutting both",
    "Cutting `z` moves nothing",
    targets=THREE,
)
def other_letters(target):
    """y in both, y in W1 only, x, z."""
    both = compiled(COPIES, "x y -> x y*", "y z -> y* z", target=target)
    one = compiled(COPIES, "x y -> x y*", COPIES, target=target)
    x = compiled(COPIES, "x y -> x* y", COPIES, target=target)
    z = compiled(COPIES, COPIES, "y z -> y z*", target=target)
    assert both.kinds == one.kinds == x.kinds == {"all-reduce"}
    assert one.price == both.price == 2 * 8 * 64 * 4
    assert x.price == 2 * 8 * 256 * 4
    assert one.memory.argument > both.memory.argument
    assert not z.collectives


@claim("If the output is as wide or wider, or if another axis of the mesh is idle, XLA for CPU, v5e and GPU "
    "gathers",
       "If `W2` is cut over `y` as well, all three keep the one all-reduce.",
       targets=THREE)  # fmt: skip
def wider(target):
    """The hidden layer cut and the second weight whole: an all-reduce of the output, or a gather and more arithmetic."""
    x, first = ARRAYS[0], ARRAYS[1]
    found = {}
    for z in (first.shape[1] // 2, first.shape[1], 2 * first.shape[1]):
        for second in ("y z -> y* z", COPIES):
            layout = zip((x, first, RNG.normal(size=(first.shape[1], z)).astype("float32")), (COPIES, "x y -> x y*", second))
            p = sl.inspect(mlp, *(sl.einshard(array, text) for array, text in layout), target=target)
            found[z >= first.shape[1], second] = p
    assert {kind: p.kinds for kind, p in found.items()} == {
        (False, "y z -> y* z"): {"all-reduce"},
        (False, COPIES): {"all-reduce"},
        (True, "y z -> y* z"): {"all-reduce"},
        (True, COPIES): {"all-gather"},
    }
    gathered, summed = found[True, COPIES], found[True, "y z -> y* z"]
    assert gathered.price < summed.price and gathered.flops > 3 * summed.flops
    idle = jax.make_mesh((2, 4), ("data", "model"), (jax.sharding.AxisType.Auto,) * 2)
    for second, kind in ((P(), "all-gather"), (P("model", None), "all-reduce")):
        shapes = (((8, 128), P()), ((128, 256), P(None, "model")), ((256, 64), second))
        arrays = [jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(idle, spec)) for shape, spec in shapes]
        assert sl.inspect(mlp, *arrays, target=target).kinds == {kind}


@claim("here nobody notices a rule that decides nothing, and a spec that is too short silently leaves dimensions whole")
def refusals():
    """What einshard refuses and a P does not."""
    params = {"up": ARRAYS[1]}
    rules = [("up", "x y -> x y@model"), ("down", "y z -> y@model z")]
    with pytest.raises(sl.ShardingError):
        sl.einshard(params, rules, named(2))
    with pytest.raises(sl.ShardingError):
        sl.einshard(ARRAYS[1], "x -> x@model", named(2))
    short = jax.device_put(ARRAYS[1], NamedSharding(named(2), P("model")))
    assert short.addressable_shards[0].data.shape == (32, 256)


@claim("small arrays take more room, because a TPU stores them in tiles, mostly of 8 by 128 numbers")
def tiles():
    """Ten by ten numbers: whichever dimension lies along a tile, most of it is empty."""
    pytest.importorskip("libtpu")
    small = RNG.normal(size=(10, 10)).astype("float32")
    p = sl.inspect(lambda a: a + 1, small, target=V5E)
    assert "T(8,128)" in p.hlo
    assert p.memory.argument > 10 * small.nbytes


@claim("The check uses 16 expressions here and 60 more when you hand in")
def expressions():
    """As exercise 5.2 declares."""
    (item,) = QUESTIONS["5.2"].items
    assert (len(item.calls), item.drawn) == (16, 60)
