"""Chapter 16, what several exercises use: meshes, drawn values, and what a device holds."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np

from shardlab_judge.cases import Observed, axes
from shardlens import Axes

LINE, WIDE, TALL = axes(x=8), axes(x=4, y=2), axes(y=4, x=2)
MESHES = (LINE, WIDE, TALL)


def drawn_mesh(rng: random.Random) -> tuple[Axes, int]:
    """A mesh, and its devices along x."""
    mesh = rng.choice(MESHES)
    return mesh, dict(mesh)["x"]


def position(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """A position along the second dimension of the first argument, neither in the first block nor at an end of one."""
    length = before[0].shape[1]
    inside = max(1, length // 8 - 1)
    return np.asarray(length * rng.integers(2, 4) // 4 + rng.integers(min(inside // 2 + 1, inside - 1), inside))


def devices(o: Observed) -> int:
    """Devices along x."""
    return dict(o.case.axes)["x"]


def carries(o: Observed, size: int) -> bool:
    """Whether a collective brings an array of so many numbers."""
    arrays = (shape for c in o.collectives for _, shape in c.arrays or ((c.dtype, c.shape),))
    return any(math.prod(shape) == size for shape in arrays)


def same(o: Observed, wanted: Sequence[np.ndarray]) -> bool:
    """Whether every device holds its slices of these outputs; where numbers are missing in both, they are equal."""
    return len(o.shards) == len(wanted) and all(
        block.shape == right[index].shape and np.allclose(block, right[index], rtol=1e-3, atol=1e-4, equal_nan=True)
        for blocks, right in zip(o.shards, wanted, strict=True)
        for _, index, block in blocks
    )
