"""Chapter 0, exercise 0.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

import numpy as np

from shardlab_judge.cases import Case, Input
from shardlens import Axes

MESHES: tuple[Axes, ...] = ((("x", 8),), (("x", 4), ("y", 2)), (("x", 2), ("y", 4)))


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product in float64."""
    return a.astype(np.float64) @ b.astype(np.float64)


def rows_case(mesh: Axes, i: int, j: int, k: int) -> Case:
    """A of (i, j) in rows over x, B of (j, k) whole, and the product in rows over x."""
    return Case(mesh, (Input((i, j), ("x", None)), Input((j, k))), (("x", None),))


def draw_rows(rng: random.Random) -> Case:
    """A mesh, and three sizes that differ."""
    i, j, k = (8 * n for n in rng.sample(range(1, 10), 3))
    return rows_case(rng.choice(MESHES), i, j, k)
