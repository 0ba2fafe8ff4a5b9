"""Chapter 8, exercise 8.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import math
from typing import Any

from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongValues

WRONG_SHAPES = (
    WrongValues(
        "tiled-by-default", "Without tiled=True an all_gather stacks the blocks along a new dimension.",
        1, like=lambda said: said["a"] == [8, 3]),
    WrongValues(
        "new-dimension-always-first",
        "axis says where the new dimension goes.", 2, like=lambda said: said["c"] == [4, 2, 3]),
    WrongValues(
        "scatter-keeps-the-dimension",
        "Without tiled=True psum_scatter takes the scattered dimension away: each device gets one entry of it.",
        1, like=lambda said: said["e"] in ([1, 6], [1, 24])),
    WrongValues(
        "scatter-cuts-anything",
        "Without tiled=True the size of the scattered dimension must be the number of devices along the axis: 8 over 4 is "
        "an error.",
        2, like=lambda said: isinstance(said["g"], list)),
    WrongValues(
        "exchange-changes-the-size",
        "An all_to_all moves elements and makes none: what one dimension loses, the other gains.",
        2, like=lambda said: isinstance(said["h"], list) and math.prod(said["h"]) != 32),
)  # fmt: skip

MECHANISM = why(
    "What do these collectives do with the devices if you do not write `tiled=True`?",
    a="They treat the devices as a dimension, as long as the axis: a gather adds it, a scatter takes it away.",
    b=Believed(
        "They join one piece from each device, or cut a dimension into one piece for each device, wherever the number of "
        "devices divides it.",
        "pieces-that-divide",
        "Then g would be no error, because 4 divides 8. That is what `tiled=True` does, in i.",
    ),
    c=Believed(
        "The same as with `tiled=True`, but the elements are in another order.",
        "only-the-order",
        "The shapes that JAX prints differ: compare a with b, and e with f.",
    ),
)

SHAPES: dict[str, Any] = {
    "a": [4, 2, 3], "b": [8, 3], "c": [2, 4, 3], "d": [2, 12], "e": [6], "f": [1, 6], "g": "error", "h": [2, 16],
    "i": [2, 6],
}  # fmt: skip
QUESTION = Question(
    "8.7", "Tiled or not", difficulty=2, minutes=15, optional=True,
    items=(
        ValueItem("shapes", {"P": 3.5}, key=SHAPES, predicted=True, words=("error",), misconceptions=WRONG_SHAPES),
        MECHANISM,
    ),
    hints=(
        "Without tiled=True the devices become a dimension of their own. It appears when blocks come together, and "
        "disappears when something is handed out.",
        "Untiled, a gather adds a dimension as long as the axis. A scatter takes a dimension away, which has to be as "
        "long as the axis. With tiled=True, sizes are multiplied and divided.",
        "a to d: 4 in front, 2 times 4, 4 in the middle, 3 times 4. e: the 4 is gone. f: 4 over 4. g: 8 is not 4. h: 8 "
        "over 4, and 4 times 4.",
    ),
    explanation="Both ways are useful. Untiled, the devices are a dimension: all_gather stacks one block for each device, "
                "and psum_scatter gives each device one entry of the sum. The two are each other's transposes, not "
                "inverses: a gather and then a scatter gives n times the block. Tiled, blocks are parts of a dimension "
                "that is already there: all_gather multiplies its size by n and psum_scatter divides it, as shardings do. "
                "shard_map keeps the rank, so you nearly always want tiled=True.\n\nIf you forget it on psum_scatter, "
                "that is an error, unless the dimension happens to be as long as the axis. If you forget it on "
                "all_gather, you get one more dimension, which broadcasting may hide for a while.",
)  # fmt: skip
