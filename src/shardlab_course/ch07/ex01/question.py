"""Chapter 7, exercise 7.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from shardlab_course.ch07.ex01 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

EMULATE = (
    WrongValues(
        "unmentioned-axis-sums",
        "If out_spec omits an axis, it says that all copies along it are equal, and one is taken. Nothing is added up.", 1,
        like=functools.partial(of.emulated, copy="sum")),
    WrongValues(
        "last-copy-taken",
        "You took the last of several copies. Where copies differ, take the one at coordinate 0.", 2,
        like=functools.partial(of.emulated, copy="last")),
    WrongValues(
        "axis-order-free", "In an entry with two axes the first is the slow one, on the way in and on the way out.", 2,
        like=functools.partial(of.emulated, slowest="last")),
    WrongValues(
        "body-sees-everything",
        "The body was given the whole arrays. It should see one block of each, once for every device.", 1, like=of.whole),
    WrongValues(
        "blocks-not-joined",
        "The devices' results were returned as a list. out_spec says how they become one array.", 1, like=of.listed),
    WrongValues(
        "out-spec-ignored",
        "The results of all devices were set one below another. out_spec says along which dimension to join them, if at "
        "all.", 2,
        like=functools.partial(of.listed, join=lambda made: np.concatenate(made))),
)  # fmt: skip

EMULATIONS: tuple[tuple[Any, ...], ...] = (
    ("double", {"x": 4}, [["x"]], ["x"], [[3, 1, 4, 1, 5, 9, 2, 6]]),
    ("transpose", {"x": 2, "y": 2}, [["x", "y"]], ["y", "x"], [[[1, 2, 3, 4], [5, 6, 7, 8]]]),
    ("double", {"x": 2, "y": 2}, [[None, "y"]], ["x", "y"], [[[1, 2, 3, 4], [5, 6, 7, 8]]]),
    ("row_sums", {"x": 2, "y": 2}, [["x", "y"]], ["x", "y"], [[[1, 2, 3, 4], [5, 6, 7, 8]]]),
    ("row_sums", {"x": 2, "y": 2}, [["x", "y"]], ["x", None], [[[1, 2, 3, 4], [5, 6, 7, 8]]]),
    ("double", {"x": 2, "y": 3}, [[["y", "x"]]], [["x", "y"]], [[1, 2, 3, 4, 5, 6]]),
    ("total", {"x": 2, "y": 2}, [["x"]], [], [[[1, 2], [3, 4]]]),
    ("product", {"x": 2, "y": 2}, [["x", None], [None, "y"]], ["x", "y"], [[[1, 2], [3, 4]], [[5, 6, 7, 8], [9, 1, 2, 3]]]),
    ("product", {"x": 2}, [[None, "x"], ["x", None]], [None, None], [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]),
    ("product", {"x": 2}, [["x", None], [None, None]], ["x", None], [[[257, 3], [7, 515]], [[1, 300], [259, 2]]]),
    ("outer", {"x": 3, "y": 2}, [["x"], ["y"]], [["x", "y"]], [[1, 2, 3], [4, 5, 6, 7]]),
)

QUESTION = Question(
    "7.1", "shard_map in NumPy", difficulty=3, minutes=40, optional=True,
    items=(
        CallsItem("emulate", {"V": 11}, oracle=of.emulated, calls=EMULATIONS, draw=of.draw_emulation,
                  misconceptions=EMULATE),
    ),
    hints=(
        "There are three steps for each device: cut its block out of every array, run the body on the blocks, and put "
        "what it returns in its place. Then take the next device.",
        "The number of parts of an output dimension is the product of the sizes of the axes in its entry. Devices that "
        "differ only in axes that out_spec omits write to the same place.",
        "itertools.product over the axes gives coordinates. block_of(entry, ...) says which block, on the way in and out. "
        "Go through the devices backwards, so that the first one writes last.",
    ),
    explanation="Without collectives shard_map is no more than this: cut, apply, put together. in_specs cut the arrays, and "
                "an axis that they omit makes copies. out_specs put the blocks together, and an axis that they omit says "
                "that the copies are equal. Your emulator does not ask whether they are, and takes the first. jax.shard_map "
                "looks at types and refuses what it cannot prove. Nothing ties the two specs together: the output's shape "
                "follows from the returned block and out_specs alone. The grader's oracle shares no line with yours. It "
                "gets the slices from the index maps of shardings, and it agrees with jax.shard_map.",
)  # fmt: skip
