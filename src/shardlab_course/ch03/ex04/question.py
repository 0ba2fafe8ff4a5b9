"""Chapter 3, exercise 3.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shardlab_course.ch03.ex04 import oracle as of
from shardlab_course.ch03.shared import LINE, WIDE, drawing_rows, gathers, rows_case
from shardlab_course.shared import products
from shardlab_course.shared.kinds import KINDS
from shardlab_judge.cases import Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongCost, WrongValues

WRONG_KINDS = (
    WrongValues(
        "transposing-moves", "x.T of x[I_x, J] is x[J, I_x]: every device transposes its own shard.", 1,
        like=lambda got: got["transpose"]),
    WrongValues(
        "elementwise-thinking", "A running total needs all rows before it, so something must move.", 1,
        like=lambda got: not got["cumsum"]),
    WrongValues(
        "clever-compiler", "A running total could be made from the shards' totals, but XLA for CPU does not know that and "
        "gathers all rows. It also misses the all-to-all that would give each device whole columns.", 2,
        like=lambda got: "all-gather" not in (got["cumsum"] or ["all-gather"])
        or "all-gather" not in (got["ravel_transposed"] or ["all-gather"])),
    WrongValues(
        "whole-dimension-gathered", "The maximum and the sum of a column are two numbers. No device needs the "
        "column itself.", 2, like=lambda got: "all-gather" in got["softmax"]),
    WrongValues(
        "softmax-is-elementwise", "Softmax along the sharded dimension divides by a sum over all devices.", 1,
        like=lambda got: not got["softmax"]),
    WrongValues(
        "roll-gathers", "Only one row of each shard leaves its device, and it goes to one neighbour.", 1,
        like=lambda got: "all-gather" in got["roll"] or "all-to-all" in got["roll"]),
    WrongValues(
        "columns-cross-devices", "cumsum_columns adds along each row, and each device has whole rows. Nothing has to move.",
        1,
        like=lambda got: got["cumsum_columns"]),
    WrongValues(
        "reshaping-is-free", "x.T.ravel() wants column after column, and every column is cut over all devices.", 2,
        like=lambda got: not got["ravel_transposed"]),
)  # fmt: skip
ROLLED = (
    WrongValues(
        "whole-shard-rolls", "Only the last row of each shard goes to the neighbour. The other seven stay on the device.",
        2, like=4096),
    WrongValues("row-in-elements", "A row has 128 elements of 4 bytes.", 1, like=128),
    WrongValues("rows-of-all-devices", "One device receives one row, and bytes are counted for one device.",
                2, like=4096 * 8),
)  # fmt: skip
TOTALS = (
    WrongValues(
        "other-dimension", "The total has to run down the rows, axis=0. This one runs along axis=1.", 1,
        like=lambda x: x.cumsum(1), when=lambda o: _first_rows_are(o, o.inputs[0].cumsum(1))),
    WrongValues(
        "own-row-left-out", "A running total includes its own row, so the first row stays as it is.", 1,
        like=lambda x: of.running_total(x) - x),
    WrongCost(
        "gathers-everything", "An array as large as x was brought to every device. One row of each shard is enough: its "
        "total.", 1,
        when=lambda o: gathers(o, of=0)),
    WrongValues(
        "blocks-not-offset", "Each device added up only its own rows. The totals of the devices before it are missing.", 1,
        local=of.blocks_apart),
    WrongValues(
        "neighbour-only", "The offset of a shard is the sum of all totals before it, and not only the last one.", 2,
        when=lambda o: _offset(o, lambda totals, d: totals[d - 1] if d else 0 * totals[0])
        or _offset(o, lambda totals, d: totals[d - 1])),
    WrongValues(
        "every-total-added", "Every shard got the totals of all shards, as an all-reduce would give them. Only the totals "
        "of the shards before it count.", 2,
        when=lambda o: _offset(o, lambda totals, d: totals.sum(0))),
    WrongValues(
        "from-the-end", "The totals after a shard were added. The totals before it are missing.", 2,
        when=lambda o: _offset(o, lambda totals, d: totals[d + 1:].sum(0))),
    WrongValues(
        "own-total-included", "The offset of a shard is the sum of the totals before it, without its own.", 2,
        when=lambda o: _offset(o, lambda totals, d: totals[: d + 1].sum(0))),
)  # fmt: skip


def _first_rows_are(o: Observed, wanted: np.ndarray) -> bool:
    """Whether the device with the first rows has those of `wanted`."""
    return all(products.near(block, wanted[index]) for _, index, block in o.shards[0] if not index[0].start)


def _offset(o: Observed, offset: Callable[[np.ndarray, int], np.ndarray]) -> bool:
    """Whether each shard's own running total has this added, a function of all shards' totals and its place."""
    (x,) = o.inputs
    shards = x.astype(np.float64).reshape(dict(o.case.axes)["x"], -1, x.shape[1])
    totals = shards.sum(1)
    wrong = np.concatenate([of.running_total(shard) + offset(totals, d) for d, shard in enumerate(shards)])
    return products.same(o, wrong)


MECHANISM = why(
    "What decides how much `cumsum` moves, along the dimension that is cut?",
    1,
    a=Believed(
        "The problem: a row needs all rows above it, so nothing less will do.",
        "the-problem-asks",
        "Less will do: `running_total` gives the same rows and gathers one row from each device. The ledger has both "
        "prices.",
    ),
    b=Believed(
        "Where the output lies: it stays cut, so each device makes its own rows from the rows that it has.",
        "output-decides",
        "The output does stay cut, and it was made from all rows. Where an array lies does not say how it got there.",
    ),
    c="What XLA for CPU can do with cut rows: if it knows no way, it first makes them whole.",
)

QUESTION = Question(
    "3.4", "Is it free?", difficulty=3, minutes=50,
    items=(
        ValueItem("kinds", {"P": 4.5}, predicted=True, members=KINDS, misconceptions=WRONG_KINDS, key={
            "transpose": frozenset(), "roll": frozenset({"collective-permute"}), "cumsum": frozenset({"all-gather"}),
            "cumsum_columns": frozenset(), "softmax": frozenset({"all-reduce"}),
            "ravel_transposed": frozenset({"all-gather"}),
        }),
        ValueItem("roll_bytes", {"P": 2}, predicted=True, key=512, misconceptions=ROLLED),
        MECHANISM,
        ProgramItem("running_total", {"V": 2, "S": 2, "H": 3.5}, oracle=of.running_total, misconceptions=TOTALS,
                    cases=(rows_case(LINE, 64, 24), rows_case(WIDE, 24, 40)), draw=drawing_rows(("x", None)),
                    atol=1e-4, tolerance="float32 sums of up to 64 rows, in another order"),
    ),
    hints=(
        "For each operation ask one device: which rows do you need for your part of the output, and which of them do you "
        "not have?",
        "To continue the running total of the shards before it, a device needs one row from each: their totals. It can do "
        "the rest alone.",
        "x.reshape(n, -1, columns) puts one shard in each place of the first dimension, and moves nothing. cumsum along "
        "axis 1, and take [:, -1] as the totals. An offset is the cumsum of the totals minus the shard's own total.",
    ),
    explanation="A transposition changes which dimension an axis cuts, and nothing else. A roll by one row sends the last "
                "row of each shard to the neighbour: 512 bytes, not the shard. Along an uncut dimension a running total is "
                "local. A softmax needs a maximum and a sum for each column, two small all-reduces.\n\nA running total "
                "could be as cheap, but XLA for CPU does not know the trick. It gathers everything, and each device repeats "
                "much of the work. XLA for TPU does the same for as few rows as here; for 1,024 rows it gathers totals. You "
                "can write it yourself: sums within shards, and offsets from their totals, so n rows move instead of all "
                "rows. On the page that costs 4,096 bytes instead of 32,768, and a seventh of the FLOPs.",
)  # fmt: skip
