"""Placements from their definition equal those of JAX; from untrusted JSON they are checked."""

from __future__ import annotations

import itertools
import json

import jax
import numpy as np
import pytest

from shardlab.errors import ShardlabError
from shardlab.pictures.draw import show
from shardlens.placement import Placement, place, placement_of

P = jax.P
MESHES = ({"x": 8}, {"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2})


def sharding(axes: dict[str, int], spec: tuple, order: list[int] | None = None) -> jax.sharding.NamedSharding:
    devices = np.array(jax.devices())[order or range(8)].reshape(tuple(axes.values()))
    mesh = jax.sharding.Mesh(devices, tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))
    return jax.sharding.NamedSharding(mesh, P(*spec))


def specs(axes: dict[str, int]) -> list[tuple]:
    names = list(axes)
    entries = [None, *names, *itertools.permutations(names, 2)]
    flat = lambda e: () if e is None else (e,) if isinstance(e, str) else e  # noqa: E731
    pairs = itertools.product(entries, repeat=2)
    return [p for p in pairs if not set(flat(p[0])) & set(flat(p[1]))]


@pytest.mark.parametrize("axes", MESHES, ids=str)
def test_place_equals_jax(axes: dict[str, int]) -> None:
    """The definition gives the index map of NamedSharding for every two-dimensional spec."""
    for spec in specs(axes):
        assert place((16, 24), axes, spec).same_as(placement_of(sharding(axes, spec), (16, 24))), spec


def test_place_follows_device_order(rng) -> None:
    """A permuted mesh puts the same blocks on other devices."""
    order = [int(i) for i in rng.permutation(8)]
    axes = {"x": 2, "y": 4}
    got = placement_of(sharding(axes, ("y", "x"), order), (16, 24))
    assert place((16, 24), axes, ("y", "x"), order).same_as(got)
    assert not place((16, 24), axes, ("y", "x")).same_as(got)


@pytest.mark.parametrize(
    "shape, axes, spec",
    [
        pytest.param((16,), {"x": 8}, ("x", None), id="spec longer than shape"),
        pytest.param((16, 16), {"x": 8}, ("x", "x"), id="axis used twice"),
        pytest.param((16,), {"x": 8}, ("y",), id="unknown axis"),
        pytest.param((12,), {"x": 8}, ("x",), id="does not divide"),
    ],
)
def test_place_refuses(shape: tuple, axes: dict, spec: tuple) -> None:
    """What NamedSharding refuses, `place` refuses."""
    with pytest.raises(ValueError):
        place(shape, axes, spec)


def test_placement_of_reads_arrays_and_copies() -> None:
    """Copies, devices and shard shape follow from the map."""
    x = jax.device_put(np.zeros((16, 12), np.float32), sharding({"x": 2, "y": 4}, (None, "y")))
    placement = placement_of(x)
    assert (placement.copies, placement.shard_shape, placement.dtype) == (2, (16, 3), "float32")
    assert placement.holders()[((0, 16), (0, 3))] == (0, 4)


def test_json_round_trip() -> None:
    """A placement survives JSON unchanged."""
    placement = place((16, 12), {"x": 2, "y": 4}, (("y", "x"), None))
    assert Placement.from_json(json.loads(json.dumps(placement.to_json()))) == placement


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"shape": [16, -1]}, id="negative size"),
        pytest.param({"shape": "16"}, id="text for a list"),
        pytest.param({"shards": [[0, [[0, 99], [0, 12]]]]}, id="slice beyond the shape"),
        pytest.param({"shards": [[0, [[0, 16], [0, 12]]], [0, [[0, 16], [0, 12]]]]}, id="device twice"),
        pytest.param({"shards": [[0, [[0, 16]]]]}, id="rank"),
        pytest.param({"spec": [["x" * 99]]}, id="long name"),
        pytest.param({"extra": 1}, id="unknown field"),
    ],
)
def test_from_json_refuses(change: dict) -> None:
    """Untrusted JSON that is no placement is refused."""
    raw = place((16, 12), {"x": 2, "y": 4}, ("x",)).to_json() | change
    with pytest.raises(ValueError):
        Placement.from_json(raw)


def test_placement_of_reads_reduced_arrays() -> None:
    """An array that is reduced over an axis lies as a replicated one does."""
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    cut = jax.device_put(np.zeros((6, 4)), jax.NamedSharding(mesh, jax.P(None, "y")))
    with jax.set_mesh(mesh):
        reduced = jax.reshard(cut, jax.P(None, "y", reduced={"x"}))
    assert placement_of(reduced).same_as(placement_of(cut))
    assert placement_of(reduced).spec == (None, "y")


@pytest.mark.parametrize("spec", [("x", "y", None), (None, None, ("x", "y")), ("x", None, "y", None)])
def test_a_spec_that_is_longer_than_the_shape(spec: tuple) -> None:
    """JAX's IndexError names neither; ours does, in `sl.show` too."""
    for ask in (placement_of, show):
        with pytest.raises(
            ShardlabError, match=f"the spec has {len(spec)} entries, but the array has 2 dimensions"
        ) as caught:
            ask(sharding({"x": 2, "y": 4}, spec), (8, 16))
        assert caught.value.reference == "spec-does-not-fit"
