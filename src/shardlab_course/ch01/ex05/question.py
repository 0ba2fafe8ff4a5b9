"""Chapter 1, exercise 1.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch01.ex05 import oracle as of
from shardlab_course.ch01.shared import LIST_AS_AXIS, local_slice
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongProgram, WrongValues

SLICE_CALLS: tuple[tuple[Any, ...], ...] = (
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [8, 16], ["x", "y"]),
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [8, 16], ["y"]),
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [24, 5], [["x", "y"], None]),
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [24, 5], [["y", "x"]]),
    ({"x": 3, "y": 0}, {"x": 4, "y": 2}, [6, 12], [None, "x"]),
    ({"x": 0, "y": 1, "z": 1}, {"x": 2, "y": 2, "z": 2}, [6, 20, 7], ["z", ["y", "x"], None]),
    ({"x": 1, "y": 1}, {"x": 2, "y": 3}, [9], []),
)  # fmt: skip

QUESTION = Question(
    id="1.5",
    title="Which slice is mine?",
    items=(
        CallsItem(
            "local_slice", {"V": 3}, oracle=local_slice, calls=SLICE_CALLS, draw=of.draw_slice,
            misconceptions=(
                WrongValues(
                    "tuple-order", "The first axis of a tuple is the slowest: the leading digit of the block's number.", 2,
                    like=of.last_axis_slowest),
                WrongValues(
                    "stops-at-spec", "A spec may be shorter than the shape; dimensions behind its end are whole.", 1,
                    like=of.as_long_as_spec),
                WrongValues(
                    "parts-for-block", "The start is the block's number times a block's size, not times the parts.", 2,
                    like=of.parts_for_block),
                WrongValues(
                    "tuple-cuts-once", "Every axis of a tuple cuts: the parts are the product of their sizes.", 2,
                    like=of.first_of_tuple),
                WrongValues(
                    "length-for-stop", "The second number is where the block ends, start + size, not how long it is.", 1,
                    like=of.lengths),
                WrongValues(
                    "device-number-for-block", "A dimension asks for the coordinates on its own axes only, not for the "
                    "device's place in the mesh.", 1, like=of.by_device_number),
                WrongValues(
                    "none-for-whole", "A dimension that no axis cuts is held whole: [0, size].", 1,
                    like=of.none_when_whole),
                WrongValues(
                    "stop-included", "A stop is the first position that is not held any more, as in range.", 1,
                    like=of.last_included),
                WrongProgram(
                    "slice-objects", "Return two numbers for each dimension, [start, stop], instead of a slice object.", 1,
                    error="slice is not a number"),
                LIST_AS_AXIS,
            ),
        ),
    ),  # fmt: skip
    difficulty=3,
    minutes=20,
    optional=True,
    hints=(
        "Treat each dimension alone: into how many parts is it cut, and which of these parts is yours? Start with a "
        "dimension that no axis cuts: one part, number 0.",
        "With several axes, build the number digit by digit: for each axis of the tuple, number becomes number times the "
        "axis's size plus your coordinate.",
        "Make every entry a list of axes, [] for None, and add [] until there is one for each dimension. Then number and "
        "parts from the same loop; block = size // parts.",
    ),
    explanation="Each dimension is cut on its own. Its axes form a number with mixed digits, the first axis leading: "
    "going through them, number = number * size + coordinate, while parts multiplies up. The block is size // parts long "
    "and starts at number * block. A dimension without an axis has no digits: number 0 of 1 part, so the whole of it. "
    "Axes that no entry names never enter the loop, so devices that differ only there get the same slice; that is all "
    "that replication is.\n\nThis little function is all that says who holds which slice, and inside shard_map (chapter 7) "
    "you will need it again: there a device knows its coordinates and sees only its block.",
)  # fmt: skip
