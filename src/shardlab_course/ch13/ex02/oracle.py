"""Chapter 13, exercise 13.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

from shardlab_course.ch13.shared import LINE, ROWS, WIDE, holds, in_pieces, transformed, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec

COLUMNS: Spec = (None, "x")


def plane(mesh: Axes, rows: int, columns: int) -> Case:
    """A case with a plane cut into rows, whose transform shall be cut into columns."""
    return Case(mesh, (Input((rows, columns), ROWS, "complex64"),), (COLUMNS,))


def draw_plane(rng: random.Random) -> Case:
    """A mesh, and a plane that its axis x cuts both ways."""
    return plane(rng.choice((LINE, WIDE)), 8 * rng.randint(1, 2), 8 * rng.randint(3, 4))


def rows_again(o: Observed) -> bool:
    """Whether rows were transformed before the exchange, and pieces of rows after it."""
    rows = transformed(1)(next(wide(o)))
    return holds(o, in_pieces(rows, {1: dict(o.case.axes)["x"]}))


def piled(o: Observed) -> bool:
    """Whether the output is too long, and too narrow, by the same factor."""
    (n, m), n_out, n_x = o.inputs[0].shape, o.placements[0].shape, dict(o.case.axes)["x"]
    return n_out == (n * n_x, m // n_x)
