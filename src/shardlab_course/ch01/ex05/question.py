"""Chapter 1, exercise 1.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch01.ex05 import oracle as of
from shardlab_course.ch01.shared import ENDS, LIST_AS_AXIS, local_slice
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
    ({"x": 1, "y": 1, "z": 0}, {"x": 2, "y": 2, "z": 2}, [24, 5], [["x", "y", "z"]]),
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [8, 16], [["x"], "y"]),
)  # fmt: skip

QUESTION = Question(
    id="1.5",
    title="Which slice is mine?",
    items=(
        CallsItem(
            "local_slice", {"V": 6}, oracle=local_slice, calls=SLICE_CALLS, draw=of.draw_slice,
            misconceptions=(
                WrongValues(
                    "tuple-order", "The first axis of a tuple is the slowest: it is the leading digit of the block's "
                                   "number.", 2,
                    like=of.last_axis_slowest),
                WrongValues(
                    "stops-at-spec", "A spec may be shorter than the shape. The dimensions after its end are whole.", 1,
                    like=of.as_long_as_spec),
                WrongValues(
                    "parts-for-block", "The start is the number of the block times the size of a block, not times the "
                                       "number of parts.", 2,
                    like=of.parts_for_block),
                WrongValues(
                    "tuple-cuts-once", "Every axis of a tuple cuts. The number of parts is the product of their sizes.", 2,
                    like=of.first_of_tuple),
                WrongValues("first-and-last-of-tuple", ENDS, 2, like=of.ends_of_tuple),
                WrongValues(
                    "length-for-stop", "The second number says where the block ends, start + size. It is not the block's "
                                       "length.", 1,
                    like=of.lengths),
                WrongValues(
                    "device-number-for-block", "A dimension needs only the coordinates on its own axes, not the device's "
                    "place in the mesh.", 1, like=of.by_device_number),
                WrongValues(
                    "none-for-whole", "A device holds all of a dimension that no axis cuts: [0, size].", 1,
                    like=of.none_when_whole),
                WrongValues(
                    "stop-included", "A stop is the first position that the slice does not contain, as in range.", 1,
                    like=of.last_included),
                WrongProgram(
                    "slice-objects", "Return two numbers for each dimension, [start, stop], and not a slice object.", 1,
                    error="slice is not a number"),
                LIST_AS_AXIS,
            ),
        ),
    ),  # fmt: skip
    difficulty=3,
    minutes=20,
    optional=True,
    hints=(
        "Treat each dimension alone. Into how many parts is it cut, and which of these parts is yours? Start with a "
        "dimension that no axis cuts: it has one part, number 0.",
        "With several axes, build the number digit by digit. For each axis of the tuple, multiply the number by the size "
        "of the axis, and add your coordinate.",
        "Make every entry a list of axes, [] for None, and add [] until each dimension has a list. One loop over a list "
        "gives both the number and the parts. A block has size // parts positions.",
    ),
    explanation="Each dimension is cut on its own. Its axes form a number whose digits have different bases, and the first "
    "axis leads. Go through the axes: number = number * size + coordinate, and parts = parts * size. The block has size // "
    "parts positions and starts at number * block. A dimension without an axis has no digits: it is number 0 of 1 part, so "
    "it is whole. An axis that no entry names never enters the loop, so devices that differ only in that coordinate get the "
    "same slice. That is all that replication is.\n\nThis little function says who holds which slice. You will need it "
    "again inside shard_map (chapter 7), where a device knows its coordinates and sees only its block.",
)  # fmt: skip
