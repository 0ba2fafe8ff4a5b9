"""Chapter 1, exercise 1.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random
from typing import Any

from shardlab_course.ch01.shared import ListedSpec, Mesh, axes_of, first_and_last, local_slice, situation


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


def ends_of_tuple(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """Wrong slice: of a tuple the first and the last axis cut, rounded down where they do not divide."""
    found = []
    entries = first_and_last(spec)
    for dimension, size in enumerate(shape):
        number, parts = 0, 1
        for axis in axes_of([*entries], dimension):
            number, parts = number * mesh[axis] + coordinates[axis], parts * mesh[axis]
        found.append([number * size // parts, (number + 1) * size // parts])
    return found


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


def draw_slice(rng: random.Random) -> tuple[Any, ...]:
    """Another device's coordinates, mesh, shape and spec."""
    mesh, shape, spec = situation(rng)
    return ({axis: rng.randrange(n) for axis, n in mesh.items()}, mesh, shape, spec)
