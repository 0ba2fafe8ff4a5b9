"""Chapter 2, exercise 2.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch02.shared import said_other
from shardlab_course.shared.kinds import OR_NONE
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

WRONG_KINDS = (
    WrongValues(
        "sum-forgotten", "{U} is a sum that nobody has added yet. A gather puts the terms side by side, and doing "
        "nothing leaves them unadded (b, c, i, j).", 1,
        like=lambda said: any(said[card] in ("none", "all-gather", "all-to-all", "collective-permute") for card in "bcij")),
    WrongValues(
        "whole-sum-for-a-slice", "The target is cut again. A reduce-scatter gives each device the sum of its own part, at "
        "half the price of an all-reduce (c, j).", 2, like=lambda said: "all-reduce" in (said["c"], said["j"])),
    WrongValues(
        "slice-for-the-whole", "A reduce-scatter leaves the sum cut, and these targets are whole (b, i).", 2,
        like=lambda said: "reduce-scatter" in (said["b"], said["i"])),
    WrongValues(
        "slicing-moves", "Every device already holds the whole array and keeps its own part. Nothing moves (e).", 1,
        like=said_other("e", "none")),
    WrongValues(
        "axis-order-free", "With another order in the tuple, other devices hold the same blocks. So the blocks have to "
                           "move (f).", 1,
        like=lambda said: said["f"] == "none"),
    WrongValues(
        "subscript-moved-by-gather", "The subscript moves to the other dimension. Every device has a part for each of the "
        "others, and keeps no more than before (d).", 2, like=said_other("d", "all-to-all")),
    WrongValues(
        "block-for-block", "Every device ends with one block, all of which comes from one device. The blocks only "
        "change devices: a permute (f).", 2, like=said_other("f", "collective-permute")),
    WrongValues(
        "subscript-gone", "A subscript that disappears, with no other in its place, is an all-gather: a device ends with "
        "more than it had (a, g, h).", 1, like=lambda said: any(said_other(card, "all-gather")(said) for card in "agh")),
)  # fmt: skip

WRONG_PRICES = (
    WrongValues(
        "elements-for-bytes", "A price counts bytes, and an element of float32 has four.", 3,
        like=lambda said: said["f"] == 16 or (said["a"] == 128 and said["b"] == 256 and said["d"] == 32)),
    WrongValues(
        "all-reduce-is-one", "An all-reduce is a reduce-scatter and then an all-gather, so it counts twice (b, i).", 2,
        like=lambda said: said["b"] == 512 or said["i"] == 128),
    WrongValues(
        "other-axis-forgotten", "The array is cut over the other axis too, before and after, so a device deals only with "
        "its part (g to j).", 2,
        like=lambda said: said["g"] == 512 or said["h"] == 512 or said["i"] in (512, 1024) or said["j"] == 512),
    WrongValues(
        "own-part-left-out", "The price counts all of the larger array, even what a device has already (a to d).", 3,
        like=lambda said: any(said[card] == left for card, left in (("a", 384), ("b", 768), ("c", 384), ("d", 96)))),
    WrongValues(
        "shard-for-array", "The larger side of a gather is its output. The larger side of a reduce-scatter is its input (a, "
        "c, g, h, j).", 1, like=lambda said: 128 in (said["a"], said["c"]) or 64 in (said["g"], said["h"], said["j"])),
    WrongValues(
        "shard-keeps-its-size", "In an all-to-all and in a permute a device sends a shard and gets a shard, never the "
        "whole array (d, f).", 1, like=lambda said: said["d"] == 512 or said["f"] == 512),
    WrongValues(
        "whole-sum-for-a-slice", "The target is cut again. A reduce-scatter counts once, and an all-reduce twice (c, j).", 2,
        like=lambda said: said["c"] == 1024 or said["j"] == 256),
    WrongValues(
        "slicing-moves", "Every device already holds the whole array and keeps its own part. Nothing moves (e).", 1,
        like=lambda said: said["e"] not in (None, 0)),
    WrongValues(
        "axis-order-free", "With another order in the tuple, other devices hold the same blocks. So the blocks have to "
                           "move (f).", 1,
        like=lambda said: said["f"] == 0),
)  # fmt: skip

KINDS = {
    "a": "all-gather", "b": "all-reduce", "c": "reduce-scatter", "d": "all-to-all", "e": "none",
    "f": "collective-permute", "g": "all-gather", "h": "all-gather", "i": "all-reduce", "j": "reduce-scatter",
}  # fmt: skip
PRICES = {"a": 512, "b": 1024, "c": 512, "d": 128, "e": 0, "f": 64, "g": 128, "h": 256, "i": 256, "j": 128}

QUESTION = Question(
    "2.1", "Ten moves", difficulty=2, minutes=20,
    items=(
        ValueItem("kinds", {"P": 3}, key=KINDS, predicted=True, words=OR_NONE, misconceptions=WRONG_KINDS),
        ValueItem("prices", {"P": 3}, key=PRICES, predicted=True, misconceptions=WRONG_PRICES),
    ),
    hints=(
        "Compare the two sides of each card. Is a subscript gone, new or moved? Is a {U} gone? Does any device end with "
        "something that it did not hold?",
        "A subscript that disappears means all-gather. A {U} that disappears means all-reduce, and a {U} that becomes a "
        "subscript means reduce-scatter. Only an all-reduce counts twice.",
        "Start from the larger side on one device. The whole array has 512 bytes; divide by 4 if x cuts that side, and by "
        "2 if y does. An axis that cuts both sides divides the price.",
    ),
    explanation="You can read a collective off the two sides. (Here, a subscript that disappears is the last in its tuple.) "
                "A subscript that disappears is gathered. A {U} that disappears is reduced, and a {U} that becomes a "
                "subscript is reduced and scattered. A subscript that changes its dimension is an all-to-all. Blocks that "
                "only change their holders are permuted. In e every device holds all rows and keeps its own, which costs "
                "nothing.\n\nThe price follows from the larger side: 512 bytes for the whole array, 128 if x cuts it on "
                "both sides, 256 if y does. An all-reduce is a reduce-scatter and an all-gather, so it counts twice. XLA "
                "for CPU compiles c and j to all-reduces and slices; written by hand they are reduce-scatters, at half the "
                "price.",
)  # fmt: skip
