"""Chapter 0's oracles: slow, plain Python and NumPy, written apart from the solutions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input
from shardlens import Axes

MESHES: tuple[Axes, ...] = ((("x", 8),), (("x", 4), ("y", 2)), (("x", 2), ("y", 4)))
PEAKS = (4.59e14, 1.97e14, 1e12, 2e11)


def spelt(text: str) -> str:
    """What a program says in the end; of a RuntimeError its name, whatever else of it is copied."""
    return "RuntimeError" if text.strip().lower().startswith(("runtimeerror", "error")) else text.strip()


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


def operations(m: int, k: int, n: int) -> int:
    """Multiplications and additions of an (m, k) by (k, n) product, counted for a row of the output and then for all."""
    row = sum(2 * k for _ in range(n))
    return m * row


def rate(m: int, k: int, n: int, seconds: float) -> float:
    """FLOPs a second."""
    return operations(m, k, n) / seconds


def believable(m: int, k: int, n: int, seconds: float, peak: float) -> bool:
    """Whether a chip of this peak could have done it."""
    return operations(m, k, n) <= peak * seconds


def draw_rate(rng: random.Random) -> tuple[Any, ...]:
    """Three sizes and a time; half of them so small and slow that the rate is a few FLOPs a second, and no whole number."""
    if rng.random() < 1 / 2:
        return (*(rng.randint(3, 9) for _ in range(3)), rng.uniform(10, 100))
    return (*(rng.randint(3, 4000) for _ in range(3)), 10.0 ** rng.uniform(-6, 1))


def draw_claim(rng: random.Random) -> tuple[Any, ...]:
    """Three sizes, a time and a peak; half of the claims are within a factor of two of the peak, on either side.

    Some are exactly at it, and some above by as much as the additions that the count of a sum's last term adds; some are a
    fiftieth above a peak of a few FLOPs a second, where that is less than one, and less than a last addition.
    """
    if rng.random() < 0.25:
        few, seconds = [rng.randint(3, 9) for _ in range(3)], rng.uniform(10, 100)
        return (*few, seconds, operations(*few) / seconds / 1.02)
    m, k, n = sizes = [rng.randint(3, 4000) for _ in range(3)]
    if rng.random() < 0.3:
        # A power of two, so that no order of the operations rounds.
        seconds = 2.0 ** -rng.randint(0, 12)
        return (*sizes, seconds, (operations(*sizes) - rng.choice((0, m * n))) / seconds)
    peak = rng.choice(PEAKS)
    ratio = rng.choice((0.01, 0.3, 0.6, 0.9, 1.1, 1.5, 1.9, 40.0))
    return (*sizes, operations(*sizes) / peak / ratio, peak)
