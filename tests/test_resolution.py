"""Expressions against shapes and devices: meshes and specs, and every way not to fit, with the whole message."""

from __future__ import annotations

import pytest

from einshard_oracle import index_map
from shardlab.errors import ShardingError
from shardlab.expressions.counts import nearest, root
from shardlab.expressions.parsing import parse
from shardlab.expressions.resolution import Resolution, axis_spec, resolve, resolve_on
from shardlens.placement import place

MESH = (("data", 4), ("model", 2))

# Each row: devices, shape, expression, shard shape. The first six are the original's own examples.
FITS = {
    "one-device": (1, (2,), "... -> * ...", (2,)),
    "copies": (16, (2,), "a -> 16 a", (2,)),
    "star": (16, (2, 8), "a b -> 2 a b*", (2, 1)),
    "three-stars": (8, (4, 4), "a b -> * a* b*", (2, 2)),
    "ellipsis-inside": (16, (2, 8), "... a -> 2 ... a*", (2, 1)),
    "bases": (16, (4, 16, 8), "a b c -> a2* b2 c*", (1, 8, 4)),
    "lone-base": (8, (8,), "a -> a4*", (1,)),
    "group": (8, (8, 2), "r c -> r2 c2 r2", (2, 1)),
    "group-and-star": (16, (8, 2), "r c -> r* c2 r2*", (1, 1)),
    "scalar": (8, (), "... -> 8 ...", ()),
    "empty-array": (8, (0, 4), "a b -> a8 b", (0, 4)),
    "ellipsis-of-none": (8, (8,), "a ... -> ... a8", (1,)),
    "all-whole": (1, (3, 5), "a b -> b a", (3, 5)),
}


@pytest.mark.parametrize("devices, shape, text, shard", FITS.values(), ids=FITS)
def test_resolves(devices: int, shape: tuple[int, ...], text: str, shard: tuple[int, ...]) -> None:
    """The shard shape is as written down, and the index map is the oracle's."""
    found = resolve(text, shape, devices)
    placed = place(shape, found.axes, found.spec)
    assert placed.shard_shape == shard
    assert dict(placed.shards) == index_map(text, shape, devices)


@pytest.mark.parametrize("text, holders", [("a -> 2 a4", (0, 4)), ("a -> a4 2", (0, 1))])
def test_order_on_devices(text: str, holders: tuple[int, ...]) -> None:
    """The first element is the slowest axis: it decides which devices hold the first shard."""
    found = resolve(text, (4,), 8)
    assert place((4,), found.axes, found.spec).holders()[((0, 1),)] == holders


def test_order_of_dimensions() -> None:
    """Which dimension stands first on the right decides which axis cuts it."""
    assert resolve("a b -> b2 a4", (8, 8), 8).spec == ("axis1", "axis0")
    assert resolve("a b -> a4 b2", (8, 8), 8).spec == ("axis0", "axis1")


@pytest.mark.parametrize("devices, side", [(64, 4), (125, 5), (216, 6), (512, 8), (4096, 16), (10**18, 10**6)])
def test_three_stars(devices: int, side: int) -> None:
    """Three stars share the devices by an exact cube root."""
    assert [n for _, n in resolve("a b c -> a* b* c*", 3, devices).axes] == [side] * 3


def test_root_is_exact() -> None:
    """A root is found if and only if it is whole, however large."""
    for degree in (1, 2, 3, 5, 1000):
        for base in (1, 2, 3, 10, 10**6):
            assert root(base**degree, degree) == base
            assert root(base**degree + 1, degree) == (base**degree + 1 if degree == 1 else None)


def test_cut_the_same_share_a_mesh() -> None:
    """Expressions that cut the devices in the same way have the same axes."""
    texts = ("x y -> x y*", "y z -> y8 z", "... p -> ... p*", "u v -> u 1 v8")
    assert {resolve(text, 2, 8).axes for text in texts} == {(("axis0", 8),)}


WHOLE = "name every dimension, or write '...' on both sides for those that stay whole."

# Each row: devices or mesh, shape, expression, id, what, carets, mend.
MISFITS = {
    "no-number": (8, (8,), "a -> a", "numbers-do-not-multiply",
                  "there is no number on the right, and there are 8 devices.", "", 'write "a -> * a" or "a -> a*".'),
    "too-few": (8, (8,), "a -> a2", "numbers-do-not-multiply",
                "the numbers give 2 parts, and there are 8 devices.", "      ^^", 'write "a -> * a2" or "a -> a2*".'),
    "too-many": (8, (8, 8), "a b -> a4 b4", "numbers-do-not-multiply",
                 "the numbers give 4 * 4 = 16 parts, and there are 8 devices.",
                 "        ^^ ^^", 'write "a b -> a2 b4" or "a b -> a4 b2".'),
    "one-device": (1, (8,), "a -> a2", "numbers-do-not-multiply",
                   "the numbers give 2 parts, and there is 1 device.", "      ^^", 'write "a -> a".'),
    "two-edits": (8, (8, 8), "a b -> a7 b9", "numbers-do-not-multiply",
                  "the numbers give 7 * 9 = 63 parts, and there are 8 devices.",
                  "        ^^ ^^", 'write "a b -> a b8" or "a b -> a4 b2".'),
    "fixed": (8, (8, 8), "a b -> 3 a* b", "numbers-do-not-divide",
              "the numbers without a star give 3, which does not divide 8 devices.",
              "        ^ ^^", 'write "a b -> 4 a* b" or "a b -> 2 a* b".'),
    "base": (8, (8, 8), "a b -> 2 a3* b", "numbers-do-not-divide",
             "the starred numbers give 3, which does not divide the 4 of 8 devices that are left for them.",
             "        ^ ^^^", 'write "a b -> 2 a4* b" or "a b -> 2 a2* b".'),
    "no-root": (8, (8, 8), "a b -> a* b*", "no-whole-root",
                "2 stars share 8 devices, which is not the square of a whole number "
                "(the nearest are 2 * 2 = 4 and 3 * 3 = 9).",
                "        ^^ ^^", 'write "a b -> * a* b*" or "a b -> 2 a* b*".'),
    "rank": (8, (8, 8, 8), "a b -> a4 b2", "rank-does-not-fit",
             "the expression names 2 dimensions, but the array has 3.", " ^ ^", WHOLE),
    "rank-scalar": (8, (), "a -> a8", "rank-does-not-fit",
                    "the expression names 1 dimension, but the array has 0.", " ^", WHOLE),
    "rank-ellipsis": (8, (8,), "a b ... -> a4 b2 ...", "rank-does-not-fit",
                      "the expression names 2 dimensions in addition to '...', but the array has 1.",
                      " ^ ^ ^^^", "name at most 1: '...' stands for the dimensions without a name."),
    "size": (8, (6, 8), "a b -> a4 b2", "parts-do-not-divide", "4 parts do not divide dimension 'a' of size 6.",
             "        ^^", 'make \'a\' a multiple of 4, or write "a b -> a2 b4" or "a b -> a2 b2*".'),
    "no-mesh": (8, (8, 8), "a b -> a@x b", "mesh-missing", "the expression names mesh axes, but there is no mesh.",
                "        ^^^", "pass mesh=..., or work inside `with jax.set_mesh(mesh):`."),
    "missing": (8, (8, 4), "a b -> a8", "dimension-missing", "dimension 'b' is missing on the right.",
                "   ^", "write 'b' there to leave it unsharded, or 'b2' to cut it in 2."),
    "axis-size": (MESH, (6, 8), "batch d -> batch@data d", "axis-does-not-divide",
                  "mesh axis 'data' of size 4 does not divide dimension 'batch' of size 6.",
                  "            ^^^^^^^^^^", "make 'batch' a multiple of 4, or shard it over 'model' (size 2)."),
    "axes-size": (MESH, (6, 8), "batch d -> batch@(data model) d", "axis-does-not-divide",
                  "mesh axes 'data', 'model' (4 * 2 = 8 parts) do not divide dimension 'batch' of size 6.",
                  "            ^^^^^^^^^^^^^^^^^^", "make 'batch' a multiple of 8, or leave it unsharded."),
    "axis-unknown": (MESH, (8, 8), "b d -> b@data d@modl", "axis-unknown", "there is no mesh axis 'modl'.",
                     "               ^^^^^^", "write 'model': the mesh has that axis."),
    "axis-twice": (MESH, (8, 8), "b d -> b@(data model) d@data", "axis-twice", "mesh axis 'data' is used twice.",
                   "                       ^^^^^^", "shard one dimension over 'data': an axis cuts an array once."),
}  # fmt: skip


@pytest.mark.parametrize("on, shape, text, reference, what, carets, mend", MISFITS.values(), ids=MISFITS)
def test_refuses(on: int | tuple, shape: tuple, text: str, reference: str, what: str, carets: str, mend: str) -> None:
    """What does not fit shows the expression, the shape, the devices and what would fit."""
    with pytest.raises(ShardingError) as caught:
        resolve(text, shape, on) if isinstance(on, int) else resolve_on(text, shape, on)
    devices = "mesh data=4, model=2" if on == MESH else f"{on} device{'s' * (on != 1)}"
    lines = [
        f"[{reference}] {what}",
        f'  where: "{text}"   shape {shape}   {devices}',
        f"         {carets}",
        f"  mend:  {mend}",
    ]
    assert str(caught.value).splitlines() == [line for line in lines if line.strip()]


def test_all_sizes_at_once() -> None:
    """Every dimension that does not divide is named."""
    with pytest.raises(ShardingError) as caught:
        resolve("a b -> a4 b2", (6, 3), 8)
    assert (
        caught.value.what == "4 parts do not divide dimension 'a' of size 6; 2 parts do not divide dimension 'b' of size 3."
    )


@pytest.mark.parametrize("text", ["a b -> a3 b", "a b -> a* b*", "a b -> 5 a7 b*", "a b -> a b", "a b -> a11* b13"])
@pytest.mark.parametrize("devices", [1, 2, 6, 8, 24, 64])
def test_nearest_work(text: str, devices: int) -> None:
    """What an error offers works, for the devices and for the shape."""
    for offered in nearest(parse(text), devices, {"a": 6, "b": 8}):
        assert resolve(offered.strip('"'), (6, 8), devices)


NAMED = {
    "both": ("b d -> b@data d@model", ("data", "model")),
    "swapped": ("b d -> b@model d@data", ("model", "data")),
    "pair": ("b d -> b@(model data) d", (("model", "data"), None)),
    "repeated": ("b d -> b@model d b@data", (("model", "data"), None)),
    "whole": ("b d -> d b", (None, None)),
    "ellipsis": ("... d -> ... d@data", (None, "data")),
    "numbers": ("b d -> b4 d2", ("data", "model")),
    "numbers-joined": ("b d -> b d8", (None, ("data", "model"))),
    "copies": ("b d -> 4 b d2", (None, "model")),
    "stars": ("b d -> b2* d*", ("data", "model")),
    "all-copies": ("b d -> * b d", (None, None)),
}


@pytest.mark.parametrize("text, spec", NAMED.values(), ids=NAMED)
def test_on_mesh(text: str, spec: tuple) -> None:
    """On a mesh, `@` names its axes, and numbers take them in their order."""
    assert resolve_on(text, (8, 8), MESH) == Resolution(MESH, spec)


@pytest.mark.parametrize("text", ["b d -> b2 d4", "b d -> b2 d2 2", "b d -> d2 b4"])
def test_numbers_off_mesh(text: str) -> None:
    """Numbers that the axes do not multiply to, in their order, have no spec on the mesh."""
    assert resolve_on(text, (8, 8), MESH) is None


def test_axis_spec() -> None:
    """The spec of an expression with `@` needs a rank only where `...` stands before a sharded dimension."""
    assert axis_spec("a b -> a@x b") == ("x", None)
    assert axis_spec("a ... -> a@x ...") == ("x",)
    assert axis_spec("... a -> ... a@x", 3) == (None, None, "x")
    with pytest.raises(ShardingError, match="rank-unknown"):
        axis_spec("... a -> ... a@x")
    with pytest.raises(ShardingError, match="axis-twice"):
        axis_spec("a b -> a@x b@x")
