"""Chapter 3, exercise 3.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes


def block(x: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Two layers, one row after another."""
    return np.stack([np.maximum(row @ up, 0) @ down for row in x])


def block_case(mesh: Axes, batch: int, width: int, hidden: int) -> Case:
    """Rows over data; the hidden dimension over model, in both weights."""
    rows, up, down = Input((batch, width), ("data", None)), Input((width, hidden), (None, "model")), ("model", None)
    return Case(mesh, (rows, up, Input((hidden, width), down)), (("data", None),))


def draw_block(rng: random.Random) -> Case:
    """More hidden units than anything else, as in real networks."""
    mesh = rng.choice((axes(data=2, model=4), axes(data=4, model=2)))
    batch, width = 16 * rng.randint(1, 2), 8 * rng.randint(3, 6)
    return block_case(mesh, batch, width, width * rng.randint(2, 4))


def constraints(o: Observed) -> int:
    """How many with_sharding_constraint the program holds."""
    return dict(o.operations).get("sdy.sharding_constraint", 0)
