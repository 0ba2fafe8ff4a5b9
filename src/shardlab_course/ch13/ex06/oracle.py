"""Chapter 13, exercise 13.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping

import numpy as np

from shardlab_course.ch13 import shared
from shardlab_course.ch13.shared import LINE, ROWS, WIDE, definite, holds, share, whole, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def matrix(mesh: Axes, n: int) -> Case:
    """A case with a positive definite matrix in blocks of rows, and its factor like it."""
    return Case(mesh, (Input((n, n), ROWS, values=definite),), (ROWS,), lapack=True)


def stack(mesh: Axes, number: int, n: int) -> Case:
    """A case with many small systems, cut over their number."""
    return Case(mesh, (Input((number, n, n), ROWS), Input((number, n), ROWS)), (ROWS,), lapack=True)


def draw_matrix(rng: random.Random) -> Case:
    """A mesh and a size."""
    return matrix(rng.choice((LINE, WIDE)), 8 * rng.randint(3, 5))


def draw_stack(rng: random.Random) -> Case:
    """A mesh, and systems that its axis x shares."""
    return stack(rng.choice((LINE, WIDE)), 8 * rng.randint(2, 3), rng.randint(3, 6))


DAMPING = 16.0


def lower(matrix: np.ndarray) -> np.ndarray:
    """The Cholesky factor, entry after entry."""
    factor = np.zeros_like(matrix)
    for i, j in itertools.product(range(len(matrix)), repeat=2):
        if j <= i:
            rest = matrix[i, j] - factor[i, :j] @ factor[j, :j]
            factor[i, j] = math.sqrt(rest) if i == j else rest / factor[j, j]
    return factor


def upper(matrix: np.ndarray) -> np.ndarray:
    """The factor's transpose."""
    return lower(matrix).T


def gathers_panels_twice(o: Observed) -> bool:
    """Whether two gathers of a panel's size run for each panel."""
    panel, n = share(o.case) // 2, dict(o.case.axes)["x"]
    return sum(c.executions or 0 for c in o.collectives if c.kind == "all-gather" and c.payload_bytes >= panel) >= 2 * n


def without_update(matrix: np.ndarray, devices: int) -> np.ndarray:
    """What devices with a block of rows each make where no panel is taken off the rest of the matrix."""
    matrix, k = matrix.copy(), len(matrix) // devices
    for start in range(0, len(matrix), k):
        columns = slice(start, start + k)
        panel = np.linalg.solve(lower(matrix[columns, columns]), matrix[:, columns].T).T
        panel[:start] = 0
        matrix[:, columns] = panel
    return matrix


def not_updated(o: Observed) -> bool:
    """Whether every panel was made from the given matrix."""
    return holds(o, without_update(o.inputs[0].astype(float), dict(o.case.axes)["x"]))


def upper_kept(o: Observed) -> bool:
    """Whether the factor is right, and something stands above its diagonal."""
    whole = shared.whole(o)
    right = np.allclose(np.tril(whole), lower(o.inputs[0].astype(float)), atol=1e-4)
    return bool(right and np.abs(np.triu(whole, 1)).max() > 1e-3)  # no more than rounding is a right zero


def own_factor(at: Mapping[str, int], block: np.ndarray) -> np.ndarray:
    """A device's own diagonal block factored, in its place."""
    k, n = block.shape
    found, mine = np.zeros((k, n)), slice(at["x"] * k, (at["x"] + 1) * k)
    found[:, mine] = lower(block[:, mine])
    return found


def systems(matrices: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of every system, after its matrix got `DAMPING` on the diagonal."""
    return np.stack([np.linalg.solve(m + DAMPING * np.eye(len(m)), v) for m, v in zip(matrices, b)])


def damped_everywhere(o: Observed) -> bool:
    """Whether the matrices got it in every entry; by what is left of the systems, for these are ill-conditioned."""
    matrices, b = wide(o)
    x, wrong = whole(o), matrices + DAMPING
    left, size = np.einsum("sij,sj->si", wrong, x) - b, np.einsum("sij,sj->si", np.abs(wrong), np.abs(x))
    return bool(np.all(np.abs(left) <= 1e-4 * size))


def undamped(matrices: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solutions without that."""
    return np.stack([np.linalg.solve(m, v) for m, v in zip(matrices, b)])
