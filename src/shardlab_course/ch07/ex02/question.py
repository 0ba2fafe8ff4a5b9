"""Chapter 7, exercise 7.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

WRONG_SHAPES = (
    WrongValues(
        "out-specs-sums",
        "If out_specs omit y, nothing is added up. They promise that devices along y agree. In F these do not agree, and "
        "JAX says so.", 1, like=lambda got: got["F"] == [8]),
    WrongValues(
        "scalar-concatenated",
        "A scalar has no dimension along which blocks could be put side by side, so H is refused.", 1,
        like=lambda got: got["H"] != "error"),
    WrongValues(
        "copies-are-one",
        "An axis that out_specs name puts blocks side by side, even equal ones. So C has its rows four times.", 1,
        like=lambda got: got["C"] == [8, 12]),
    WrongValues(
        "specs-cancel",
        "out_specs do not undo in_specs. Take the shape of the returned block, and multiply it by the sizes of the axes "
        "that out_specs name.", 2, like=lambda got: got["B"] == [8, 12] or got["D"] == [8, 12]),
    WrongValues(
        "sums-out-the-rows", "In G each device has 2 rows left. out_specs name x, which makes 8 of them.", 2,
        like=lambda got: got["G"] == [2]),
)  # fmt: skip
VALUES = (
    WrongValues(
        "out-specs-sums",
        "With P() on both sides every device returns its copy, and the output is one of the copies: nothing is added.", 1,
        like=lambda got: got["a"] in ([8, 16], [4, 8], [2, 4])),
    WrongValues(
        "sum-of-copies-is-one",
        "A psum adds what each device has, and four equal copies add up to four times the value.", 2,
        like=lambda got: got["c"] == [1, 2]),
    WrongValues(
        "all-devices-counted", "psum over x adds along x only: 4 devices, not 8.", 2, like=lambda got: got["c"] == [8, 16]),
)  # fmt: skip

SHAPES: dict[str, Any] = {
    "A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error",
}  # fmt: skip

QUESTION = Question(
    "7.2", "Which shape comes out?", difficulty=2, minutes=20,
    items=(
        ValueItem("shapes", {"P": 4}, predicted=True, key=SHAPES, words=("error",), misconceptions=WRONG_SHAPES),
        ValueItem("values", {"P": 2}, predicted=True, misconceptions=VALUES, key={
            "a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8],
        }),
    ),
    hints=(
        "Forget the global array for a moment. What is the shape of one block, before and after the body? Only then look at "
        "out_specs.",
        "Each dimension of the returned block is multiplied by the sizes of the axes that out_specs name for it. An axis "
        "that they do not name multiplies nothing, and adds nothing.",
        "Two are refused. One returns a scalar and names an axis. In the other, devices along y hold different sums, and "
        "out_specs say that they agree.",
    ),
    explanation="out_specs put blocks side by side; they never add. B: blocks of [2, 12] side by side along x in "
                "dimension 1 make [2, 48]. C: every device has all of z, and out_specs name x, which repeats z four "
                "times. D and E: the specs on the way out may differ from those on the way in.\n\nIn F a device has the "
                "sum of half a row. Nobody added the halves, and the type f32[2]{V:(x,y)} says so. G adds them. H has no "
                "dimension along which to put blocks side by side: return shape (1,) instead. In a, b and c every device "
                "has the same two numbers. These copies are taken once, repeated, or added four times over, because psum "
                "does not ask whether it adds copies.",
)  # fmt: skip
