"""Chapter 13, exercise 13.7: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from shardlab_course.ch13.shared import LINE, ROWS, WIDE, definite, holds, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def triangular(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """The lower factor of such a matrix."""
    return np.asarray(np.linalg.cholesky(definite(rng, shape, before)))


def factored(mesh: Axes, n: int) -> Case:
    """A case with a lower factor in blocks of rows, and a right-hand side like it."""
    return Case(mesh, (Input((n, n), ROWS, values=triangular), Input((n,), ROWS)), (ROWS,), lapack=True)


def draw_factored(rng: random.Random) -> Case:
    """A mesh and a size."""
    return factored(rng.choice((LINE, WIDE)), 8 * rng.randint(3, 6))


def substituted(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of the system whose matrix is the factor times its transpose."""
    return solved_up(factor, solved_down(factor, b))


def solved_down(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution for the factor alone."""
    return np.asarray(np.linalg.solve(factor, b))


def solved_up(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution for its transpose alone."""
    return np.asarray(np.linalg.solve(factor.T, b))


def steps(factor: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name."""
    return {"y, the solution on the way down": solved_down(factor, b), "x": substituted(factor, b)}


def down_twice(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution where the second system has the factor once more."""
    return solved_down(factor, solved_down(factor, b))


def own_blocks(at: Mapping[str, int], factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What a device finds with its own diagonal block alone."""
    mine = slice(at["x"] * len(b), (at["x"] + 1) * len(b))
    return substituted(factor[:, mine], b)


def own_term_summed(o: Observed) -> bool:
    """Whether on the way up a device's own block of y was summed with the others' terms."""
    factor, b = wide(o)
    x, k = solved_down(factor, b), len(b) // dict(o.case.axes)["x"]
    for start in reversed(range(0, len(b), k)):
        columns = slice(start, start + k)
        x[columns] = solved_up(factor[columns, columns], x[columns] - factor[:, columns].T @ x)
    return holds(o, x)


def whole_vectors(o: Observed) -> bool:
    """Whether a whole vector arrives in each round of one way at least."""
    rounds = (c.executions or 0 for c in o.collectives if c.payload_bytes >= o.inputs[1].nbytes)
    return sum(rounds) >= dict(o.case.axes)["x"]
