"""Chapter 15, exercise 15.5: the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch15.ex05 import oracle as of
from shardlab_course.ch15.shared import COLUMNS, sizes
from shardlab_course.shared.agreement import agrees, wide
from shardlab_judge.cases import Observed
from shardlab_judge.question import WrongCost, WrongValues
from shardlens import place

CAUSES = {
    "unplaced-state": "an array that nobody placed lies whole on every device",
    "cut-goes-to-loop": "a reshape gives the cut to the dimension that a loop walks over",
    "sum-in-loop": "the sum over devices runs in every round, and once after the loop is enough",
    "too-few-summed": "terms are summed over some of the devices that have one",
    "summed-twice": "what is summed already is summed again",
    "table-gathered": "a whole table is gathered to read a few of its rows",
    "widened-first": "an array is made wider, and then moved",
    "wrong-axis": "a constraint cuts a dimension other than the one that is already cut",
    "local-index": "a device takes the index in its block for the index in the array",
    "same-key": "all devices draw from one key",
}
"""The choices of 15.5, with what they mean."""


def _number(*values: float) -> Any:
    return lambda got: got["number"] in values


def _cause(*names: str) -> Any:
    return lambda got: got["cause"] in names


CASE_1 = (
    WrongValues(
        "traffic-blamed",
        "A good step has both collectives too: w is cut, so it is gathered, and its gradient is summed. Compare the bytes "
        "of each argument with its shape.",
        1, like=_cause("too-few-summed", "summed-twice", "widened-first", "table-gathered", "wrong-axis")),
    WrongValues(
        "all-of-it-counted", "That is the size of m and v on a device. The device needs an eighth of it, so the rest is "
        "the answer.",
        2, like=_number(196_608)),
    WrongValues(
        "one-moment-counted", "There are two moments, and a device needs an eighth of each: add up the rest of both.",
        2, like=_number(86_016, 98_304)),
)  # fmt: skip

CASE_2 = (
    WrongValues(
        "constraint-blamed",
        "There is no constraint in the jaxpr. Which dimension of the reshaped array gets the cut of the rows, and what "
        "does the loop do with that dimension?",
        1, like=_cause("wrong-axis", "unplaced-state", "table-gathered")),
    WrongValues(
        "one-of-two-gathers",
        "That is one of the two all-gathers: the slices are brought together on their way in, and so are the outputs on "
        "their way out.",
        2, like=_number(9_216, 6_144)),
    WrongValues(
        "own-part-left-out",
        "You omitted what a device has already. The table's payload is the bytes of the result, with the device's own "
        "part: add up that column.",
        2, like=_number(9_984, 6_912, 3_072)),
)  # fmt: skip

CASE_3 = (
    WrongValues(
        "loop-overlooked",
        "The operands of the sum are each device's own counts, and the labels stay cut over data. In which computation is "
        "the sum, and how often does that run?",
        1, like=_cause("summed-twice", "too-few-summed", "cut-goes-to-loop", "local-index")),
    WrongValues(
        "bytes-of-one-round", "The line is printed once and runs in each of the loop's rounds.", 2, like=_number(400)),
    WrongValues("needed-sum-counted", "One sum is needed; the rest need not move.", 2, like=_number(9_600)),
)  # fmt: skip

CASE_4 = (
    WrongValues(
        "gradient-blamed-for-twice",
        "No value is too large: a device's own gradient is summed once. Compare the axes of that sum with the axes that "
        "cut the tokens.",
        1, like=_cause("summed-twice", "same-key", "local-index")),
    WrongValues(
        "group-the-other-way",
        "That is the size of the axis over which nothing was summed, or of the whole mesh; the sum is over data.", 2,
        like=_number(4, 8)),
)  # fmt: skip

CASE_5 = (
    WrongValues(
        "constraint-on-the-output-blamed",
        "The constraint says how the rows should be cut, and that is by batch. What does the product need from the table?",
        1, like=_cause("wrong-axis", "unplaced-state")),
    WrongValues(
        "table-counted",
        "That is the table, or a device's part of it. Count the bytes of the rows that one device's ids name.",
        2, like=_number(65_536, 8_192)),
)  # fmt: skip

CASE_6 = (
    WrongValues(
        "gather-blamed",
        "The weights have to be gathered in some form, as the batch is cut too. In which form are they stored, and in "
        "which do they travel?",
        1, like=_cause("table-gathered", "unplaced-state", "wrong-axis")),
    WrongValues("floats-counted", "That is what travels now; stored, an element has one byte.", 2, like=_number(61_440)),
    WrongValues(
        "savings-counted", "That is the difference. Give the bytes that would travel then.", 2, like=_number(46_080)),
)  # fmt: skip


def _whole(o: Observed, k: int) -> bool:
    return o.placements[k].shard_shape == o.placements[k].shape


MENDED_1 = (
    WrongCost(
        "zeros-have-no-place",
        "Zeros are whole, on one device or on all that the program uses. A constant depends on no argument, so it does "
        "not get the sharding of its weight. Under jit zeros_like copies only shape and dtype, and device_put does not "
        "place a constant.",
        3, when=lambda o: _whole(o, 0) and _whole(o, 1)),
    WrongCost(
        "same-place-for-both", "One weight is cut by rows, the other by columns. Each moment needs the sharding of its "
        "own weight.",
        3, when=lambda o: _in_place(o, 0) != _in_place(o, 1)),
)  # fmt: skip


def _in_place(o: Observed, k: int) -> bool:
    """Whether a moment lies as its weight does."""
    return o.placements[k].same_as(place(o.placements[k].shape, o.case.axes, o.case.outputs[k] or ()))


MENDED_2 = (
    WrongValues(
        "rows-out-of-order",
        "The slices are right, but the rows come back in the slices' order: undo what you did to the batch.",
        3, like=of.predictions_mixed),
    WrongCost(
        "slices-of-the-cut",
        "Rows travel, in the loop, before it or after it. If a slice takes equally many rows from every device, no row has "
        "to travel, as long as nothing asks for another cut.",
        3, when=lambda o: o.price > o.inputs[0][0].nbytes and not _whole(o, 0) and "stablehlo.while" in dict(o.operations)
        and agrees(o, (of.predictions(*wide(o)),))),
    WrongCost(
        "rows-travel",
        "Nothing has to travel: each row of the result comes from one row of x, and is needed on the same device.",
        3, when=lambda o: o.price > 0),
)  # fmt: skip

MENDED_3 = (
    WrongCost(
        "sum-still-in-the-loop",
        "An all-reduce still runs in every round: carry each device's own counts, and sum after the loop. Under jit alone "
        "the carry is one array for all devices, and XLA for CPU sums it at once.",
        3, when=lambda o: any((c.executions or 0) > 1 and c.kind == "all-reduce" for c in o.collectives)),
    WrongCost(
        "labels-travel",
        "As many bytes are gathered as the labels have, or more. Let each device count its own labels, and sum the counts "
        "over devices: then only a hundred numbers travel.",
        3, when=of.labels_moved),
    WrongCost(
        "rounds-summed-apart",
        "An all-reduce carries more than a hundred numbers. Perhaps the counts of every round travel together: add a "
        "device's rounds up first, then sum a hundred numbers over devices.",
        3, when=lambda o: any(c.kind == "all-reduce" and c.payload_bytes > 4 * of.CLASSES for c in o.collectives)),
    WrongValues("never-summed", "Each device returns the counts of its own labels.", 3, local=of.counts_own),
)  # fmt: skip

MENDED_4 = (
    WrongCost(
        "still-over-data-only", "Tokens are cut over model too, and a device's scale has seen only its own tokens.",
        3, when=lambda o: of.slope_over(o, "data")),
    WrongCost(
        "over-model-only", "Now the sum is over model, and the batch is cut over data.", 3,
        when=lambda o: of.slope_over(o, "model")),
    WrongValues("never-summed-at-all", "Each device returns the gradient of its own tokens.", 3, local=of.slope_own),
    WrongCost(
        "summed-again",
        "It is too large by a factor, the number of devices along an axis or in the mesh. Perhaps a sum is summed again: "
        "with check_vma=True jax.grad itself sums over the axes along which scale is the same.",
        3, when=lambda o: any(of.slope_times(o, n) for n in sizes(o))),
    WrongCost(
        "mean-of-the-terms",
        "It is too small by a factor, the number of devices along an axis or in the mesh. Perhaps a mean over them is "
        "taken, and the loss is a sum over tokens.",
        3, when=lambda o: any(of.slope_times(o, 1 / n) for n in sizes(o))),
)  # fmt: skip

MENDED_5 = (
    WrongCost(
        "still-gathered",
        "The whole table still travels. Each device can look all ids up in its own columns; then only the rows that are "
        "named travel. jnp.take shows that to the compiler, a product with one_hot hides it.",
        3, when=lambda o: any(c.kind == "all-gather" and c.payload_bytes >= o.inputs[0].nbytes for c in o.collectives)),
    WrongCost(
        "rows-left-by-columns",
        "A look-up leaves the rows cut as the table is, by columns. The result should be cut by rows, so say that with a "
        "constraint.",
        3, when=lambda o: o.placements[0].same_as(place(o.placements[0].shape, o.case.axes, COLUMNS))),
)  # fmt: skip

MENDED_6 = (
    WrongCost(
        "floats-still-travel",
        "As many bytes travel as the weights have as floats. For a product, XLA for CPU gathers the operand in the type "
        "in which it is multiplied, and all_gather gathers the array you give it. Ask for the stored whole numbers on "
        "every device, and widen and rescale after that.",
        3, when=of.wholes_moved),
    WrongValues(
        "scale-forgotten", "These are products with the stored whole numbers; every column also has its scale.", 3,
        like=of.unscaled),
)  # fmt: skip
