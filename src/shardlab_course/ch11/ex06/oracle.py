"""Chapter 11, exercise 11.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from shardlab_course.ch11.shared import FIRST, MESHES, ROWS, SECOND, TINY, Arrays, moved
from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.verdict import Finding
from shardlens import Axes

GIVEN_AWAY = frozenset({0, 1, 2})
"""The weight and its state in 11.6: what the caller never looks at again."""


def adam(w: np.ndarray, m: np.ndarray, v: np.ndarray, g: np.ndarray, step: np.ndarray) -> Arrays:
    """Weight and state after one step of Adam when `step` have been done."""
    m, v = FIRST * m + (1 - FIRST) * g, SECOND * v + (1 - SECOND) * g**2
    return moved(w, m, v, float(step) + 1), m, v


def other_donations(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """Donated arrays that should not be, or the other way round."""
    if o.donated != GIVEN_AWAY:
        what = "Your program does not donate exactly the arrays that it should."
        yield Finding(item.name, "M", what, expected=_positions(GIVEN_AWAY), got=_positions(o.donated))


def _positions(arrays: frozenset[int]) -> str:
    return f"of the arrays after the mesh, number {', '.join(str(i + 1) for i in sorted(arrays))}" if arrays else "none"


def stepping(mesh: Axes, rows: int, columns: int) -> Case:
    """One weight with its state and its gradient, all cut by rows, and the number of steps done."""
    arrays = tuple(Input((rows, columns), ROWS, values=values) for values in (None, None, second_moments, small_slopes))
    return Case(mesh, (*arrays, Input((), (), "int32", values=few)), (ROWS,) * 3)


def second_moments(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Positive numbers, and zeros in the first row."""
    drawn = rng.uniform(1, 9, shape)
    drawn[0] = 0
    return drawn


def small_slopes(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Normal numbers, in the first row such that the small number below the fraction counts."""
    drawn = rng.standard_normal(shape)
    drawn[0] *= 1e-3
    return drawn


def few(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """A number from 1 to 3: later corrections hardly differ."""
    return rng.integers(1, 4, shape)


def adam_otherwise(behind: int = 0, tiny: float = TINY) -> Callable[..., Arrays]:
    """`adam` with a mistake: corrected for an earlier step, or without the small number below the fraction."""

    def wrong(w: np.ndarray, m: np.ndarray, v: np.ndarray, g: np.ndarray, step: np.ndarray) -> Arrays:
        m, v = FIRST * m + (1 - FIRST) * g, SECOND * v + (1 - SECOND) * g**2
        return moved(w, m, v, float(step) + 1 - behind, tiny), m, v

    return wrong


def draw_stepping(rng: random.Random) -> Case:
    """The same on other sizes."""
    mesh = rng.choice(MESHES)
    return stepping(mesh, 8 * rng.randint(2, 5), rng.randint(3, 9))
