"""Chapter 1, exercise 1.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

from shardlab_course.ch01.shared import ListedSpec, Mesh, axes_of, first_and_last, local_slice, situation

ITEM_BYTES = {"bool": 1, "int8": 1, "bfloat16": 2, "float16": 2, "int32": 4, "float32": 4, "complex64": 8}


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


def ends_of_tuple_bytes(shape: list[int], dtype: str, mesh: Mesh, spec: ListedSpec) -> int:
    """Wrong for one device: of a tuple the first and the last axis cut."""
    parts = math.prod(mesh[axis] for entry in first_and_last(spec) for axis in entry)
    return array_bytes(shape, dtype, mesh, spec) // parts


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


def draw_bytes(rng: random.Random) -> tuple[Any, ...]:
    """Another shape, dtype, mesh and spec."""
    mesh, shape, spec = situation(rng)
    # Then dividing by all devices leaves no fraction, so that it is recognised however it is rounded.
    shape[0] *= math.prod(mesh.values())
    return (shape, rng.choice(sorted(ITEM_BYTES)), mesh, spec)
