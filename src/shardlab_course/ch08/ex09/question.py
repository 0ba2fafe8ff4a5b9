"""Chapter 8, exercise 8.9: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch08.ex09 import oracle as of
from shardlab_course.ch08.shared import LINE, ROWS, WIDE, Shapes, program, unchanged
from shardlab_course.shared.manual import LEFT
from shardlab_course.shared.sent import little_beside, sent
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

OTHER_WAY_ROUND = (
    "split_axis is the dimension that was whole and gets cut. concat_axis is the one that was cut and becomes whole."
)
EXCHANGE = (
    LEFT,
    WrongCost(
        "gathers-then-slices", "Everything was gathered, where a device needs an n-th: n times the bytes of an all-to-all.",
        1, when=lambda o: sent(o, "all-gather") >= o.inputs[0].nbytes),
    WrongValues(
        "only-renamed", "Nothing moved. out_specs says where blocks lie, and does not bring them there.",
        1, when=of.blocks_stay, breaks=True),
    WrongValues("split-and-concat-swapped", OTHER_WAY_ROUND, 2, when=of.split_again),
    WrongProgram("split-and-concat-swapped", OTHER_WAY_ROUND, 2, error="to be divisible"),
    WrongCost(
        "out-specs-as-before",
        "Each device holds the right block, but out_specs put the blocks together in another way. They should name the "
        "dimension that is cut, and no other.",
        2, when=of.right_blocks),
    WrongProgram(
        "not-tiled",
        "Without tiled=True the size of the split dimension must be the number of devices along the axis, and a new "
        "dimension appears for the devices.",
        2, error="to equal x.shape"),
)  # fmt: skip

ALONE = (little_beside("exchange", 0, "all-to-all", "collective-permute"),)
"""Permutes send less than an all-to-all, whose price has a device's own part: that is no room for anything else."""
CUBES: Shapes = ((LINE, (16, 16, 3)), (WIDE, (12, 8, 5)))

QUESTION = Question(
    "8.9", "Who holds what, transposed", difficulty=3, minutes=25,
    known_as="the exchange of DeepSpeed Ulysses (Jacobs and others, 2023)",
    items=(
        program("to_heads", {"V": 1.5, "S": 0.75, "H": 1.25}, unchanged, CUBES, ROWS, (None, "x"), of.cube, EXCHANGE,
                checks=ALONE),
        program("to_tokens", {"V": 1.5, "S": 0.75, "H": 1.25}, unchanged, CUBES, (None, "x"), ROWS, of.cube, EXCHANGE,
                checks=ALONE),
    ),
    hints=(
        "The global array does not change at all: not a value, not an index. What changes is who holds which part of it.",
        "Each device cuts its block along the dimension that was whole, and puts together what it gets along the one that "
        "was cut.",
        "all_to_all(block, 'x', split_axis=1, concat_axis=0, tiled=True) turns tokens into heads, with out_specs=P(None, "
        "'x'). For the way back exchange the two numbers.",
    ),
    explanation="Think of a grid of blocks, with one row for each sender and one column for each receiver. An all-to-all "
                "transposes it: device i gives its block j to device j and gets block i of every device. Between these "
                "two specs values stay where they are in the global array, and the subscript moves from one dimension to "
                "the other. It costs one shard, an n-th of what a gather costs, and with the two axes exchanged it undoes "
                "itself. DeepSpeed Ulysses uses it in both directions: devices share the tokens for the projections, and "
                "the heads for the attention itself. A change between the two specs under jit compiles to the same "
                "collective, for CPU and for TPU.",
)  # fmt: skip
