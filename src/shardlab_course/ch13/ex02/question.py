"""Chapter 13, exercise 13.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch13.ex02 import oracle as of
from shardlab_course.ch13.shared import (
    CUT,
    INVERSE,
    LINE,
    PLANE,
    SWAPPED,
    TRANSFORM,
    TWICE,
    UNTILED,
    WIDE,
    all_of_it,
    count,
    holds,
    if_right,
    lies,
    own_transform,
    transformed,
    transforms,
    twice,
)
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

SLAB = (
    all_of_it(PLANE), SWAPPED, UNTILED,
    WrongValues(
        "output-is-transposed",
        "After the exchange a device holds whole columns, but out_specs=P('x') stacks these blocks one below another. The "
        "output is cut along the other dimension: P(None, 'x').", 2, when=of.piled),
    WrongValues(
        "no-exchange",
        "Each device transformed the columns of its own block, as if they were whole; they are spread over all devices.",
        1, local=own_transform(0, 1)),
    WrongValues(
        "one-dimension-left-out",
        "One dimension is transformed and the other is not. Transform each while it is whole.",
        1, like=transformed(1)),
    WrongValues(
        "one-dimension-left-out",
        "One dimension is transformed and the other is not. Transform each while it is whole.",
        1, like=transformed(0)),
    WrongValues(
        "one-dimension-twice", "The same dimension is transformed twice; after the exchange the other one has to be "
                               "transformed.",
        1, like=transformed(1, 1)),
    WrongValues("cut-and-whole", TWICE, 1, when=lambda o: holds(o, twice(o))),
    WrongValues(
        "rows-again",
        "After the exchange the last dimension was transformed again. That dimension is cut now; the columns are whole, "
        "so use axis=0.",
        2, when=of.rows_again),
    CUT,
    WrongCost(
        "goes-home",
        "A second all-to-all brings the transform back into rows, for twice the bytes. The exercise asks for columns.",
        2, when=if_right(PLANE, lambda o: count(o, "all-to-all") > 1 and lies(o, "x"))),
    INVERSE,
)  # fmt: skip

QUESTION = Question(
    "13.2", "A plane in slabs", difficulty=3, minutes=40,
    items=(
        ProgramItem("slab_fft", {"V": 4, "S": 4, "H": 4}, oracle=transformed(0, 1), names=transforms(1, 0),
                    misconceptions=SLAB, rtol=1e-4, atol=1e-3, tolerance=TRANSFORM,
                    cases=(of.plane(LINE, 16, 24), of.plane(WIDE, 20, 12)), draw=of.draw_plane),
    ),
    hints=(
        "Which of the two dimensions is whole on a device at the beginning? Which has to be whole at the end?",
        "Transform rows, exchange so that columns become whole, transform columns. The output is then cut where the input "
        "was not.",
        "Body: fft along 1; all_to_all with split_axis=1, concat_axis=0, tiled=True; fft along 0. Specs: P('x') in, "
        "P(None, 'x') out.",
    ),
    explanation="A transform in two dimensions is one along rows, then one along columns, and each needs its dimension "
                "whole. Between them the data are transposed over the devices: one all-to-all of one block. A gather would "
                "bring the whole plane, which is n blocks on n devices. The output is cut into columns. That is right, and "
                "its type says so. A second exchange would bring the rows back; a program that multiplies by something in "
                "k-space and returns never needs it. Two shard_maps with specs P('x') and P(None, 'x') are right as well: "
                "XLA, for CPU and for TPU, gets from one to the other by an all-to-all.",
)  # fmt: skip
