"""The questions of the small chapter; the tests put it where the course has the exercises of a chapter 90."""

from __future__ import annotations

import random

import numpy as np

from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question
from shardlens.placement import place

HINTS = ("one", "two", "three")
SECRET = "key-that-only-the-judge-knows"


def contraction(i: int, j: int, k: int, **mesh: int) -> Case:
    """A[I, J_x] times B[J_x, K], wanted on every device."""
    return Case(axes(**mesh), (Input((i, j), (None, "x")), Input((j, k), ("x", None))), ((),))


def drawn(rng: random.Random) -> Case:
    """A further size on a further mesh."""
    return contraction(8 * rng.randrange(1, 4), 16 * rng.randrange(2, 5), 4 * rng.randrange(1, 4), x=8)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A times B."""
    return a @ b


DOUBLE = CallsItem(
    "double", {"C": 2}, oracle=lambda n: 2 * n, calls=((1,), (2,)), draw=lambda rng: (rng.randrange(3, 10**6),)
)
KIND = ValueItem("kind", {"P": 0.5}, key="all-reduce", words=("all-gather", "all-reduce"), predicted=True)
PRODUCT = ProgramItem(
    "product", {"V": 2, "S": 1, "H": 1}, oracle=product, draw=drawn,
    cases=(contraction(8, 64, 12, x=2, y=4), contraction(12, 96, 8, x=4, y=2)),
)  # fmt: skip
ROWS = PlacementItem("rows", {"S": 1}, target=place((16, 4), axes(x=8), ("x",)))
QUESTIONS = (
    Question("90.1", "Double", (DOUBLE,), 1, 2, HINTS, SECRET),
    Question("90.2", "Parts", (KIND, ValueItem("A", {"C": 1}, key=3)), 2, 5, HINTS, SECRET, variable="parts"),
    Question("90.3", "Product", (PRODUCT,), 2, 5, HINTS, SECRET),
    Question("90.4", "Rows", (ROWS,), 2, 5, HINTS, SECRET),
)
