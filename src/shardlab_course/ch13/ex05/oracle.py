"""Chapter 13, exercise 13.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

import numpy as np

from shardlab_course.ch13.shared import LINE, ROWS, STEPS, TALL, WIDE, definite, holds, iterated, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def system(mesh: Axes, n: int) -> Case:
    """A case with a positive definite matrix in blocks of rows, and a right-hand side like it."""
    return Case(mesh, (Input((n, n), ROWS, values=definite), Input((n,), ROWS)), (ROWS,))


def draw_system(rng: random.Random) -> Case:
    """A mesh and a size."""
    return system(rng.choice((LINE, WIDE, TALL)), 8 * rng.randint(5, 8))


def conjugate_gradients(matrix: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sixth approximation, from zero."""
    return iterated()(matrix, b)


def steps(matrix: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """The solution, the residual and the direction after each round."""
    found: dict[str, np.ndarray] = {}
    x, r, p = np.zeros_like(b), b, b
    for n in range(1, STEPS + 1):
        along = r @ r / (p @ matrix @ p)
        x, before, r = x + along * p, r @ r, r - along * (matrix @ p)
        p = r + r @ r / before * p
        found |= {
            f"the solution after round {n}": x,
            f"the residual after round {n}": r,
            f"the direction after round {n}": p,
        }
    return found


def lonely_sums(o: Observed) -> bool:
    """Whether each device summed over its own entries only."""
    return holds(o, iterated(own=dict(o.case.axes)["x"])(*wide(o)))


def lonely_products(o: Observed) -> bool:
    """Whether each device multiplied with its own entries only."""
    return holds(o, iterated(narrow=dict(o.case.axes)["x"])(*wide(o)))


def loops(o: Observed) -> int:
    """How many rounds the loop makes, whatever they compute: as many as a collective in it, and six if some are unrolled."""
    return max([STEPS, *(c.executions or 0 for c in o.collectives)])


def products_twice(o: Observed) -> bool:
    """Whether a device spends what at least one and a half products with the matrix cost in each round."""
    return (o.flops or 0) > 1.5 * STEPS * 2 * o.inputs[0].size / dict(o.case.axes)["x"]


def before_the_loop(o: Observed) -> int:
    """Bytes that a gather before the loop costs more: of b, where nothing is summed, or for a seventh product and its sums.

    Each of six rounds has a product, a sum of two numbers, and ten FLOPs for each entry of a device's vectors.
    """
    matrix, b = o.inputs
    if "all-reduce" not in o.kinds:
        return int(b.nbytes) - 2 * 4 * (2 * STEPS + 1)
    entries = b.size // dict(o.case.axes)["x"]
    seven = 2 * (STEPS + 1) * matrix.size // dict(o.case.axes)["x"] + 10 * STEPS * entries
    multiplied = (o.flops or 0) > seven and numbers_summed(o) == 2 * (STEPS + 1)
    return int(b.nbytes) + 2 * 4 if multiplied else 0


def numbers_summed(o: Observed) -> int:
    """How many float32 numbers all all-reduces give a device, all rounds counted."""
    return sum(c.payload_bytes * (c.executions or 0) for c in o.collectives if c.kind == "all-reduce") // 4
