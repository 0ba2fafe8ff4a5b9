"""Chapter 13, exercise 13.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

from shardlab_course.ch13.shared import LINE, TALL, WIDE
from shardlab_judge.cases import Case, Input
from shardlens import Axes


def signals(mesh: Axes, rows: int, columns: int) -> Case:
    """A case with a batch of signals, cut over all axes."""
    names = tuple(name for name, _ in mesh)
    return Case(mesh, (Input((rows, columns), (names,), "complex64"),))


def draw_signals(rng: random.Random) -> Case:
    """A mesh, and a batch that its devices share."""
    return signals(rng.choice((LINE, WIDE, TALL)), 8 * rng.randint(1, 3), rng.randint(5, 20))
