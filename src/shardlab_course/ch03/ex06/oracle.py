"""Chapter 3, exercise 3.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from shardlab_course.ch03.shared import LINE, WIDE
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes

STEPS = 6


def steps(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, times: int = STEPS) -> np.ndarray:
    """So many times x <- W x / sqrt(N), element by element of x."""
    for _ in range(times):
        x = np.stack([(row[:, None] * x).sum(0) for row in rows]) / np.sqrt(len(rows))
    return x


def as_rows(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """The matrix that is given by rows already."""
    return before[1]


def steps_case(mesh: Axes, size: int, width: int) -> Case:
    """One matrix, held by rows and by columns."""
    held = Input((size, size), ("x", None)), Input((size, size), (None, "x"), values=as_rows)
    return Case(mesh, (Input((size, width), ("x", None)), *held), (("x", None),))


def draw_steps(rng: random.Random) -> Case:
    """Sizes that 8 divides."""
    return steps_case(rng.choice((LINE, WIDE)), 8 * rng.randint(2, 6), rng.randint(2, 9))


def runs(o: Observed) -> int:
    """How many collectives run, all rounds of loops counted."""
    return sum(c.executions or 0 for c in o.collectives)
