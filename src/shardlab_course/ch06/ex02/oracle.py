"""Chapter 6, exercise 6.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element by element."""
    return np.array([[p + q for p, q in zip(row, other)] for row, other in zip(a, b)])


def merged(h: np.ndarray) -> np.ndarray:
    """Every position of every sequence, one below another."""
    return np.stack([position for sequence in h for position in sequence])


def ids(rng: np.random.Generator, shape: tuple[int, ...], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of the table, among them the last one of the first half, the first one of the second, and one at an end."""
    rows = len(arrays[0])
    ends = [rows // 2 - 1, rows // 2, rng.choice([0, rows - 1])]
    return rng.permutation([*ends, *rng.integers(0, rows, shape[0] - len(ends))])


def picked(table: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """One row for each id."""
    return np.stack([table[int(i)] for i in ids])
