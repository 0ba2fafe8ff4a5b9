"""Chapter 1's oracles: slow, position by position; with the wrong functions that we know, and drawn arguments."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

Mesh = Mapping[str, int]
ListedSpec = list[str | list[str] | None]
"""A spec as JSON has it: for each dimension an axis name, a list of names, or `None`."""

ITEM_BYTES = {"bool": 1, "int8": 1, "bfloat16": 2, "float16": 2, "int32": 4, "float32": 4, "complex64": 8}


def local_slice(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """The [start, stop] of each dimension on one device: all positions, cut axis by axis."""
    found = []
    for dimension, size in enumerate(shape):
        positions = np.arange(size)
        for axis in axes_of(spec, dimension):
            positions = np.split(positions, mesh[axis])[coordinates[axis]]
        found.append([int(positions[0]), int(positions[-1]) + 1])
    return found


def bytes_on_each(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> Iterator[int]:
    """Bytes that each device of the mesh holds, one device after the other."""
    for place in itertools.product(*map(range, mesh.values())):
        held = local_slice(dict(zip(mesh, place)), mesh, shape, spec)
        yield math.prod(stop - start for start, stop in held) * ITEM_BYTES[dtype]


def bytes_per_device(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Bytes that the first device holds."""
    return next(bytes_on_each(shape, dtype, mesh, spec))


def bytes_total(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Bytes of all devices, added up."""
    return sum(bytes_on_each(shape, dtype, mesh, spec))


def axes_of(spec: ListedSpec, dimension: int) -> list[str]:
    """The mesh axes that cut a dimension, slowest first."""
    entry = spec[dimension] if dimension < len(spec) else None
    return [entry] if isinstance(entry, str) else list(entry or [])


def array_bytes(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong as a total: the array once, however many copies there are."""
    return math.prod(shape) * ITEM_BYTES[dtype]


def copy_everywhere(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong as a total: a whole array for every device."""
    return array_bytes(shape, dtype, mesh, spec) * math.prod(mesh.values())


def added_copies(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong as a total: the sizes of the unmentioned axes are added instead of multiplied."""
    used = {axis for dimension in range(len(spec)) for axis in axes_of(spec, dimension)}
    return array_bytes(shape, dtype, mesh, spec) * max(1, sum(n for axis, n in mesh.items() if axis not in used))


def divided_by_all(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> float:
    """Wrong for one device: as if the spec named every mesh axis."""
    return array_bytes(shape, dtype, mesh, spec) / math.prod(mesh.values())


def first_of_tuple_bytes(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong for one device: of a tuple only the first axis cuts."""
    return bytes_per_device(shape, dtype, mesh, [axes_of(spec, d)[:1] for d in range(len(spec))])


def elements(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong for one device: elements instead of bytes."""
    return bytes_per_device(shape, "int8", mesh, spec)


def short_of_shape(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong for one device: dimensions behind the end of the spec are left out."""
    return bytes_per_device(shape[: len(spec)], dtype, mesh, spec)


def short_total(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong as a total: dimensions behind the end of the spec are left out."""
    return bytes_total(shape[: len(spec)], dtype, mesh, spec)


def four_bytes(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong for one device: every element is taken for a float32."""
    return bytes_per_device(shape, "float32", mesh, spec)


def last_axis_slowest(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """Wrong slice: the last axis of a tuple is taken as the slowest."""
    return local_slice(coordinates, mesh, shape, [axes_of(spec, d)[::-1] for d in range(len(spec))])


def as_long_as_spec(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """Wrong slice: dimensions behind the end of the spec are missing."""
    return local_slice(coordinates, mesh, shape, spec)[: len(spec)]


def parts_for_block(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """Wrong slice: the block's number times how many blocks there are."""
    parts = [math.prod(mesh[axis] for axis in axes_of(spec, d)) for d in range(len(shape))]
    right = local_slice(coordinates, mesh, shape, spec)
    numbers = [start // (size // p) for (start, _), size, p in zip(right, shape, parts)]
    return [[k * p, k * p + size // p] for k, p, size in zip(numbers, parts, shape)]


def first_of_tuple(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """Wrong slice: of a tuple only the first axis cuts."""
    return local_slice(coordinates, mesh, shape, [axes_of(spec, d)[:1] for d in range(len(spec))])


def last_included(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """Wrong slice: the stop is the last position that is held."""
    return [[start, stop - 1] for start, stop in local_slice(coordinates, mesh, shape, spec)]


def lengths(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """Wrong slice: the block's size where its stop belongs."""
    return [[start, stop - start] for start, stop in local_slice(coordinates, mesh, shape, spec)]


def by_device_number(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """Wrong slice: blocks are dealt out by the device's place in the mesh, whichever axes cut the dimension."""
    device = 0
    for axis, size in mesh.items():
        device = device * size + coordinates[axis]
    parts = [math.prod(mesh[axis] for axis in axes_of(spec, d)) for d in range(len(shape))]
    return [[device % p * (size // p), (device % p + 1) * (size // p)] for p, size in zip(parts, shape)]


def none_when_whole(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int] | None]:
    """Wrong slice: nothing is said of a dimension that no axis cuts."""
    right = local_slice(coordinates, mesh, shape, spec)
    return [found if axes_of(spec, d) else None for d, found in enumerate(right)]


def draw_bytes(rng: random.Random) -> tuple[Any, ...]:
    """Another shape, dtype, mesh and spec."""
    mesh, shape, spec = _situation(rng)
    # Then dividing by all devices leaves no fraction, so that it is recognised however it is rounded.
    shape[0] *= math.prod(mesh.values())
    return (shape, rng.choice(sorted(ITEM_BYTES)), mesh, spec)


def draw_slice(rng: random.Random) -> tuple[Any, ...]:
    """Another device's coordinates, mesh, shape and spec."""
    mesh, shape, spec = _situation(rng)
    return ({axis: rng.randrange(n) for axis, n in mesh.items()}, mesh, shape, spec)


def _situation(rng: random.Random) -> tuple[dict[str, int], list[int], ListedSpec]:
    sizes = rng.choice([(2, 4), (4, 2), (2, 3), (3, 2), (2, 2, 2), (8,), (6,)])
    names = rng.sample(["data", "model", "expert", "x", "y", "z"], len(sizes))
    mesh = dict(zip(names, sizes))
    rank = rng.randint(1, 3)
    entries: list[list[str]] = [[] for _ in range(rank)]
    for axis in rng.sample(names, rng.randint(0, len(names))):
        rng.choice(entries).append(axis)
    shape = [math.prod(mesh[axis] for axis in entry) * rng.choice([1, 3, 5, 7]) for entry in entries]
    spec = [entry if len(entry) > 1 else entry[0] if entry else None for entry in entries]
    while spec and spec[-1] is None and rng.random() < 0.5:
        spec.pop()
    return mesh, shape, spec
