"""Chapter 2, exercise 2.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch02.shared import said_other
from shardlab_course.shared.kinds import OR_NONE
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

WRONG_KINDS = (
    WrongValues(
        "sum-forgotten", "{U} is a sum that nobody has added yet: to gather puts terms side by side, to do nothing leaves "
        "them unadded (b, c, i, j).", 1,
        like=lambda said: any(said[card] in ("none", "all-gather", "all-to-all", "collective-permute") for card in "bcij")),
    WrongValues(
        "whole-sum-for-a-slice", "The target is cut again: a reduce-scatter gives each device the sum of its own part, at "
        "half the price of all of it (c, j).", 2, like=lambda said: "all-reduce" in (said["c"], said["j"])),
    WrongValues(
        "slice-for-the-whole", "A reduce-scatter leaves the sum cut, and these targets want it whole (b, i).", 2,
        like=lambda said: "reduce-scatter" in (said["b"], said["i"])),
    WrongValues(
        "slicing-moves", "Every device holds all of it already and takes its own part: nothing moves (e).", 1,
        like=said_other("e", "none")),
    WrongValues(
        "axis-order-free", "Another order in the tuple is another holder for the same blocks: they change places (f).", 1,
        like=lambda said: said["f"] == "none"),
    WrongValues(
        "subscript-moved-by-gather", "The subscript moves to the other dimension: every device has a part for every "
        "other, and keeps no more than before (d).", 2, like=said_other("d", "all-to-all")),
    WrongValues(
        "block-for-block", "Every device ends with one block, and all of it comes from one device: blocks change their "
        "holders, a permute (f).", 2, like=said_other("f", "collective-permute")),
    WrongValues(
        "subscript-gone", "A subscript that goes, with no other in its place, is gathered: a device ends with more than it "
        "had (a, g, h).", 1, like=lambda said: any(said_other(card, "all-gather")(said) for card in "agh")),
)  # fmt: skip

WRONG_PRICES = (
    WrongValues(
        "elements-for-bytes", "A price is in bytes, and an element of float32 has four of them.", 3,
        like=lambda said: said["f"] == 16 or (said["a"] == 128 and said["b"] == 256 and said["d"] == 32)),
    WrongValues(
        "all-reduce-is-one", "An all-reduce is a reduce-scatter and then an all-gather: it pays twice (b, i).", 2,
        like=lambda said: said["b"] == 512 or said["i"] == 128),
    WrongValues(
        "other-axis-forgotten", "The array is cut over the other axis too, and stays so: a device deals with its part "
        "only (g to j).", 2,
        like=lambda said: said["g"] == 512 or said["h"] == 512 or said["i"] in (512, 1024) or said["j"] == 512),
    WrongValues(
        "own-part-left-out", "The price counts the larger array whole, the part that a device has already included.", 3,
        like=lambda said: any(said[card] == left for card, left in (("a", 384), ("b", 768), ("c", 384), ("d", 96)))),
    WrongValues(
        "shard-for-array", "Of a gather the larger side is what comes out; of a reduce-scatter, what goes in (a, c, g, h, "
        "j).", 1, like=lambda said: 128 in (said["a"], said["c"]) or 64 in (said["g"], said["h"], said["j"])),
    WrongValues(
        "shard-keeps-its-size", "In an all-to-all and in a permute a device sends a shard and gets a shard, never all of "
        "the array (d, f).", 1, like=lambda said: said["d"] == 512 or said["f"] == 512),
    WrongValues(
        "whole-sum-for-a-slice", "The target is cut again: a reduce-scatter pays once, and an all-reduce twice (c, j).", 2,
        like=lambda said: said["c"] == 1024 or said["j"] == 256),
    WrongValues(
        "slicing-moves", "Every device holds all of it already and takes its own part: nothing moves (e).", 1,
        like=lambda said: said["e"] not in (None, 0)),
    WrongValues(
        "axis-order-free", "Another order in the tuple is another holder for the same blocks: they change places (f).", 1,
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
        ValueItem("kinds", {"P": 1}, key=KINDS, predicted=True, words=OR_NONE, misconceptions=WRONG_KINDS),
        ValueItem("prices", {"P": 1}, key=PRICES, predicted=True, misconceptions=WRONG_PRICES),
    ),
    hints=(
        "Compare the two sides of each card. Is a subscript gone, new, or moved? Is a {U} gone? Does any device end with "
        "something that it did not hold?",
        "Subscript gone: gather. {U} gone: all-reduce; {U} turned into a subscript: reduce-scatter. Only an all-reduce "
        "pays twice.",
        "A price starts from the larger side on one device: 512 bytes, divided by 4 where x cuts, by 2 where y cuts. What "
        "cuts both sides, cuts the price.",
    ),
    explanation="Read a collective off the two sides (a subscript in a tuple is the last one here). A subscript that goes "
                "is gathered; a {U} that goes is reduced; a {U} that becomes a subscript is reduced and scattered; a "
                "subscript that changes its dimension is an all-to-all; blocks that only change their holders are permuted. "
                "In e every device holds all rows and keeps its own, which costs nothing.\n\nThe price follows from the "
                "larger side: 512 bytes for the whole array, 128 where x cuts it on both sides, 256 where y does. An "
                "all-reduce is a reduce-scatter and an all-gather, so it pays twice. XLA for CPU makes c and j all-reduces "
                "and slices; written by hand they are reduce-scatters, at half the price.",
)  # fmt: skip
