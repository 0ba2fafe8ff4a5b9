"""Chapter 1, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping

import numpy as np

from shardlab_judge.question import WrongProgram

Mesh = Mapping[str, int]
ListedSpec = list[str | list[str] | None]
"""A spec as JSON has it: for each dimension an axis name, a list of names, or `None`."""


def local_slice(coordinates: Mesh, mesh: Mesh, shape: list[int], spec: ListedSpec) -> list[list[int]]:
    """The [start, stop] of each dimension on one device: all positions, cut axis by axis."""
    found = []
    for dimension, size in enumerate(shape):
        positions = np.arange(size)
        for axis in axes_of(spec, dimension):
            positions = np.split(positions, mesh[axis])[coordinates[axis]]
        found.append([int(positions[0]), int(positions[-1]) + 1])
    return found


def axes_of(spec: ListedSpec, dimension: int) -> list[str]:
    """The mesh axes that cut a dimension, slowest first."""
    entry = spec[dimension] if dimension < len(spec) else None
    return [entry] if isinstance(entry, str) else list(entry or [])


def first_and_last(spec: ListedSpec) -> list[list[str]]:
    """The spec as whoever takes the first and the last axis of each tuple reads it: one that is alone counts twice."""
    return [[entry[0], entry[-1]] if isinstance(entry, list) and entry else axes_of([entry], 0) for entry in spec]


def situation(rng: random.Random) -> tuple[dict[str, int], list[int], ListedSpec]:
    """A mesh, a shape, and a spec that fits them."""
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


ENDS = "You take the first and the last axis of a tuple. A tuple may have only one axis, or three: go through all of it."
LIST_AS_AXIS = WrongProgram(
    "list-as-axis", "An entry may be a list of axes, and a list can be no key and no member of a "
    "set. Go through the list.", 2,
    error=lambda text, call: "unhashable type: 'list'" in text and bool(re.search(r"\[[^]]*\[", call)),
)  # fmt: skip
