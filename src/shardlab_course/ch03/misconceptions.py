"""Chapter 3's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shardlab import Collective
from shardlab_course.ch03 import oracles as of
from shardlab_course.shared import products
from shardlab_judge.cases import Observed
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception
from shardlens import Spec


def mistake(id: str, cause: str, hint: int = 1, **entries: Any) -> Misconception:
    """A line of 3.1 that was read with these entries."""
    return Misconception(id, cause, hint, like=lambda got: all(got[key] == value for key, value in entries.items()))


IN_A_ROUND = mistake("loop-counted-once", "The line stands in the body of a loop, and the while says how often that runs: "
                     "known_trip_count.", 2, times=1)  # fmt: skip
BY_OP_NAME = Misconception(
    "believes-op-name", "op_name says which JAX operation the line belongs to. What the line does is its own "
    "operation: a fusion, here a slice, local to the device.", 1, like=lambda got: got["kind"] == "all-to-all")  # fmt: skip
ONE_OF_FOUR = mistake("first-of-tuple", "The output is a tuple of four arrays of f32, 4 bytes an element; all of them "
                      "arrive.", 1, bytes=768)  # fmt: skip
ONE_OF_TWO = mistake("first-of-tuple", "XLA combined two all-reduces: the output is a tuple, and both arrays "
                     "count.", 1, bytes=4608)  # fmt: skip
ELEMENTS = mistake("elements-not-bytes", "These are elements; f32 has 4 bytes.", 1, bytes=128)
GROUPS = mistake("counts-groups", "That is the number of groups; asked is how many devices talk to each other in one.", 2,
                 group=2)  # fmt: skip
EVERYBODY = mistake("everybody-in-one-group", "8 devices run the program, but replica_groups divides them: only axis_0, of "
                    "size 4, is named.", 2, group=8)  # fmt: skip
TAKEN_OUT = Misconception(
    "counts-the-taking-out", "get-tuple-element only picks one array out of what the all-reduce returned; its "
    "operand names the all-reduce, its operation does not.", 1, like=lambda got: got["kind"] == "all-reduce")  # fmt: skip
INSIDE = Misconception(
    "counts-the-fusions-inside", "This line describes what the fusion that calls it does as a whole; the TPU runs "
    "one reduce-scatter, and it is counted at the line with calls=.", 3,
    like=lambda got: got["kind"] == "all-reduce")  # fmt: skip
IN_AND_OUT = Misconception(
    "start-counts-in-and-out", "The tuple of a -start holds the operand, the output and two counters; only "
    "the output is what arrives.", 2, like=lambda got: got["bytes"] in (1024, 1032))  # fmt: skip
FUSION = Misconception(
    "fusion-overlooked", "calls=%all-reduce-scatter: on a TPU a reduce-scatter may be written so.", 3,
    like=lambda got: got == "none")  # fmt: skip
WHOLE = Misconception(
    "counts-what-goes-in", "That is what goes in. Out comes this device's part of the sum, f32[64,512].", 2,
    like=lambda got: got["bytes"] == 524288)  # fmt: skip
TWICE = Misconception(
    "done-counted-again", "The -done waits for the -start that is its operand; together they are one.", 2,
    like=lambda got: got["kind"] == "collective-permute")  # fmt: skip

OPERATIONS = Misconception(
    "counts-operations", "An instruction may carry one number or a whole model: 8 gradients came in one "
    "all-reduce. Count bytes.", 1, like=of.counted(what="operations"))  # fmt: skip
COUNTS = (
    Misconception("total-without-kinds", "Asked is a dict: bytes for each kind.", 1, like=of.counted(total=True)),
    OPERATIONS,
    Misconception(
        "loop-counted-once", "A loop's body stands once in the text and runs known_trip_count times.", 2,
        like=of.counted(rounds="once")),
    Misconception(
        "inner-rounds-only", "A loop in a loop: the numbers of rounds multiply.", 2, like=of.counted(rounds="inner")),
    Misconception(
        "tuples-overlooked", "An output may be a tuple, `(f32[20,12]{1,0}, f32[20]{0}) all-reduce(...)`; these lines were "
        "not seen.", 1, like=of.counted(tuples="none")),
    Misconception(
        "index-comments", "Long tuples are printed with comments such as /*index=5*/, whose `=` or `*` breaks the pattern; "
        "remove them first.", 2, like=of.counted(tuples="short")),
    Misconception("first-of-tuple", "Of a tuple only the first array was counted.", 1, like=of.counted(tuples="first")),
    Misconception(
        "four-bytes-always", "The type says how many bytes an element has: 2 for bf16, 1 for s8.", 2,
        like=of.counted(itemsize=4)),
    Misconception("elements-not-bytes", "Elements were counted instead of bytes.", 1, like=of.counted(itemsize=1)),
    Misconception(
        "start-and-done", "A -start and its -done are one collective, and the tuple of the -start names the operand as "
        "well. Skip one of the two lines.", 2, like=of.counted(pairs="both")),
    Misconception(
        "pairs-overlooked", "A collective may be written as two instructions, -start and -done; these were not seen.", 2,
        like=of.counted(pairs="none")),
    Misconception(
        "start-for-done", "The tuple of a -start names what goes in and counters as well; the -done has only what comes "
        "out.", 2, like=of.counted(pairs="start")),
    *(Misconception(
        "tuples-overlooked", "Lines whose output is a tuple were not seen, and loops not multiplied.", 1,
        like=of.counted(tuples="none", rounds=rounds, pairs=pairs))
      for rounds in ("never", "once", "product") for pairs in ("done", "both")),
)  # fmt: skip

BLOCK = (
    Misconception(
        "more-constraints", "Constraints were added, and a weight is still gathered: look for the one that asks H, or the "
        "weight itself, to lie elsewhere. A constraint can be taken away, too.", 2,
        when=lambda o: of.gathers(o, of=1) and of.constraints(o) > 2),
    Misconception(
        "relu-forgotten", "Between the two products stands a relu: negative hidden values become zero.", 1,
        like=lambda x, up, down: x @ up @ down),
    Misconception(
        "batch-over-everything", "A whole weight is brought to every device. So it is where H is asked to lie elsewhere "
        "than `X @ W1` leaves it, with rows over data and hidden units over model, or where the weight is asked to be "
        "whole.", 1,
        when=lambda o: of.gathers(o, of=1)),
    Misconception(
        "none-means-whole", "H is gathered over `model`. None in a constraint does not leave a dimension open: it asks for "
        "the whole of it on every device.", 2,
        when=lambda o: any(_gathered_over_model(c, _hidden(o)) for c in o.collectives)),
    Misconception(
        "scattered-and-gathered", "The sum over model leaves the output where it belongs; cut over model too, its rows "
        "have to be gathered again.", 1,
        when=lambda o: "all-reduce" in o.kinds and _gathered_over_model(o.collectives[-1], _output(o))),
)  # fmt: skip


def _gathered_over_model(one: Collective, nbytes: int) -> bool:
    return one.kind == "all-gather" and one.axes == ("model",) and one.payload_bytes == nbytes


def _output(o: Observed) -> int:
    """Bytes of this device's rows of the output."""
    return o.inputs[0].nbytes // dict(o.case.axes)["data"]


def _hidden(o: Observed) -> int:
    """Bytes of H with this device's rows, and all hidden units."""
    return o.inputs[0].itemsize * len(o.inputs[0]) * o.inputs[1].shape[1] // dict(o.case.axes)["data"]


def _rows(o: Observed) -> bool:
    return all(spec[:1] == ("x",) and set(spec[1:]) <= {None} for spec in of.specs(o))


KINDS = (
    Misconception(
        "transposing-moves", "x.T of x[I_x, J] is x[J, I_x]: every device transposes its own shard.", 1,
        like=lambda got: got["transpose"]),
    Misconception(
        "elementwise-thinking", "A running total needs all rows before it, so something must move.", 1,
        like=lambda got: not got["cumsum"]),
    Misconception(
        "clever-compiler", "A running total could be made from the shards' totals, and XLA for CPU does not know it: it "
        "gathers all rows. Nor does it find the all-to-all that would turn the columns.", 2,
        like=lambda got: "all-gather" not in (got["cumsum"] or ["all-gather"])
        or "all-gather" not in (got["ravel_transposed"] or ["all-gather"])),
    Misconception(
        "whole-dimension-gathered", "The maximum and the sum of a column are two numbers; no device needs the column "
        "itself.", 2, like=lambda got: "all-gather" in got["softmax"]),
    Misconception(
        "softmax-is-elementwise", "Softmax along the sharded dimension divides by a sum over all devices.", 1,
        like=lambda got: not got["softmax"]),
    Misconception(
        "roll-gathers", "Only one row of each shard leaves its device, and it goes to one neighbour.", 1,
        like=lambda got: "all-gather" in got["roll"] or "all-to-all" in got["roll"]),
    Misconception(
        "columns-cross-devices", "Along the columns nothing is cut: each device has its rows whole.", 1,
        like=lambda got: got["cumsum_columns"]),
    Misconception(
        "reshaping-is-free", "x.T.ravel() wants column after column, and every column is cut over all devices.", 2,
        like=lambda got: not got["ravel_transposed"]),
)  # fmt: skip
ROLLED = (
    Misconception(
        "whole-shard-rolls", "Of each shard only the last row goes to the neighbour; the other seven stay on the device.",
        2, like=4096),
    Misconception("row-in-elements", "A row has 128 elements of 4 bytes.", 1, like=128),
    Misconception("rows-of-all-devices", "One device receives one row; bytes are counted for one device.", 2, like=4096 * 8),
)  # fmt: skip
TOTALS = (
    Misconception(
        "other-dimension", "The total runs down the rows, axis=0; along the columns nothing is cut.", 1,
        like=lambda x: x.cumsum(1)),
    Misconception(
        "own-row-left-out", "A running total includes its own row: the first row stays as it is.", 1,
        like=lambda x: of.running_total(x) - x),
    Misconception(
        "gathers-everything", "All rows were brought to every device; it is enough to know each shard's total, one row.", 1,
        when=lambda o: of.gathers(o, of=0)),
    Misconception(
        "blocks-not-offset", "Each device's rows are added up alone: the totals of the devices before it are missing.", 1,
        local=of.blocks_apart),
    Misconception(
        "neighbour-only", "The offset of a shard is the sum of all totals before it, not of the last one alone.", 2,
        when=lambda o: _offset(o, lambda totals, d: totals[d - 1] if d else 0 * totals[0])
        or _offset(o, lambda totals, d: totals[d - 1])),
    Misconception(
        "every-total-added", "Every shard got the totals of all shards, as from an all-reduce, which knows no order. Only "
        "those before it count.", 2,
        when=lambda o: _offset(o, lambda totals, d: totals.sum(0))),
    Misconception(
        "from-the-end", "The totals behind a shard were added; those before it are missing.", 2,
        when=lambda o: _offset(o, lambda totals, d: totals[d + 1:].sum(0))),
    Misconception(
        "own-total-included", "The offset of a shard is the sum of the totals before it, without its own.", 2,
        when=lambda o: _offset(o, lambda totals, d: totals[: d + 1].sum(0))),
)  # fmt: skip


def _offset(o: Observed, offset: Callable[[np.ndarray, int], np.ndarray]) -> bool:
    """Whether each shard's own running total has this added, a function of all shards' totals and its place."""
    (x,) = o.inputs
    shards = x.astype(np.float64).reshape(dict(o.case.axes)["x"], -1, x.shape[1])
    totals = shards.sum(1)
    wrong = np.concatenate([of.running_total(shard) + offset(totals, d) for d, shard in enumerate(shards)])
    return products.same(o, wrong)


def _inner_cut(o: Observed) -> bool:
    """Whether the dimension between B and C is cut over all axes in both."""
    _, b, c, _ = of.specs(o)
    return _axes_of(b, 1) == _axes_of(c, 0) == {axis for axis, _ in o.case.axes}


def _summed_cut(o: Observed) -> bool:
    """Whether a dimension that is summed over is cut in one of its two matrices."""
    a, b, c, d = of.specs(o)
    return any(_axes_of(*side) for side in ((a, 1), (b, 0), (b, 1), (c, 0), (c, 1), (d, 0)))


def _axes_of(spec: Spec, dimension: int) -> set[str]:
    entry = spec[dimension] if dimension < len(spec) else None
    return {entry} if isinstance(entry, str) else set(entry or ())


FREE = (
    Misconception(
        "rows-everywhere", "With P('x') on all four, every contracted dimension is cut on one side: three gathers.", 1,
        when=_rows),
    Misconception(
        "inner-dimensions-cut", "Something is cut along a dimension that is summed, so there is something to gather or to "
        "add. Which dimensions stay to the end?", 1, when=_summed_cut),
    Misconception(
        "one-axis-twice", "A's rows and D's columns are cut over one axis: no device could hold its part of both in the "
        "output, so one of them is brought together.", 2, when=lambda o: bool(o.collectives)),
    Misconception(
        "work-repeated", "Nothing moves, but devices do the same work. All 8 divide the work of all three products only if "
        "both axes cut the rows of A.", 2, when=lambda o: not o.collectives),
)  # fmt: skip
ONE = (
    Misconception(
        "rows-everywhere", "With P('x') on all four, every contracted dimension is cut on one side: three gathers.", 1,
        when=_rows),
    Misconception(
        "weights-stay-whole", "Then nothing moves, and every device holds B and C whole: memory pays for it.",
        1, when=lambda o: not o.collectives),
    Misconception(
        "another-dimension-cut", "One sum is enough to have both B and C cut by 8: the one over the dimension that they "
        "share, cut over both axes.", 2,
        when=lambda o: o.kinds == {"all-reduce"} and len(o.collectives) == 1 and not _inner_cut(o)),
    Misconception(
        "d-could-be-cut", "The all-reduce leaves A·B·C whole on every device, so columns of D can be cut for nothing, and "
        "the output with them.", 3, when=lambda o: o.kinds == {"all-reduce"} and len(o.collectives) == 1
        and not _axes_of(of.specs(o)[3], 1)),
    Misconception(
        "b-and-c-do-not-fit", "B·C is a sum over their common dimension: cut B's columns and C's rows in the same way, and "
        "let A be whole, or there is more to add, or something to gather.", 2, when=lambda o: len(o.collectives) > 1
        and (not _inner_cut(o) or bool(_axes_of(of.specs(o)[0], 0) | _axes_of(of.specs(o)[0], 1)))),
)  # fmt: skip

STEPS = (
    Misconception(
        "matrix-brought", "A matrix as large as W was brought together, and x is much smaller. Leave W where it "
        "lies, and move x.", 1, when=lambda o: of.gathers(o, of=1)),
    Misconception(
        "rows-only", "Rows make finished rows, so every step has to gather x first: six collectives. Who takes x as it "
        "lies?", 1, when=lambda o: o.kinds == {"all-gather"} and of.runs(o) >= of.STEPS),
    Misconception(
        "meets-in-every-step", "A reduce-scatter in every step moves no more, but all devices meet six times. Rows and "
        "columns in turn meet three times.", 1, when=lambda o: o.kinds == {"reduce-scatter"} and of.runs(o) == of.STEPS),
    Misconception(
        "columns-only", "Columns make terms, so every step ends in a sum over all devices: six collectives, each twice the "
        "price of a gather.", 1, when=lambda o: o.kinds == {"all-reduce"} and of.runs(o) == of.STEPS),
    Misconception(
        "one-round-a-step", "x lies alike after every round of a loop, so each of six rounds moves it anew. Put a step by "
        "columns and a step by rows into one round, and make three rounds.", 3,
        when=lambda o: _right(o) and "all-reduce" in o.kinds and _gathered_in_each_round(o)),
    Misconception(
        "rows-before-columns", "x is gathered, and need not be. Rows want it whole; columns want it cut, as it arrives: "
        "begin with columns, and let x lie as it comes.", 2,
        when=lambda o: _right(o) and "all-reduce" in o.kinds and _of_x(o, 0)),
    Misconception(
        "gathered-between", "x is gathered three times. A sum of columns' terms leaves it whole, as rows want it; rows "
        "leave it cut, as columns want it. In turn they need no gather.", 2,
        when=lambda o: _right(o) and "all-reduce" in o.kinds and _gathers_of_x(o) == of.STEPS // 2),
    Misconception(
        "brought-together-at-the-end", "x is gathered once, and comes out whole. Begin with columns and end with rows: "
        "then x lies in rows, as it should, and nothing more is to be done.", 3,
        when=lambda o: _right(o) and "all-reduce" in o.kinds and _of_x(o, -1) and _gathers_of_x(o) == 1
        and o.placements[0].shard_shape == o.placements[0].shape),
    *(Misconception(
        "one-step-too-few", "Six steps, and each divides by the root of N.", 1, like=wrong)
      for wrong in (
          lambda x, rows, columns: of.steps(x, rows, columns) * len(x) ** 0.5,
          lambda x, rows, columns: of.steps(x, rows, columns, of.STEPS - 1),
          lambda x, rows, columns: of.steps(x, rows, columns, of.STEPS + 1),
      )),
)  # fmt: skip


def _right(o: Observed) -> bool:
    x, rows, columns = o.inputs
    return products.same(o, of.steps(x, rows, columns))


def _gathers_of_x(o: Observed) -> int:
    """How often x is gathered, all rounds of loops counted."""
    return sum(c.executions or 0 for c in o.collectives if c.kind == "all-gather" and c.payload_bytes == o.inputs[0].nbytes)


def _gathered_in_each_round(o: Observed) -> bool:
    """Whether one gather of x runs as often as there are steps: it stands in a loop of as many rounds."""
    return any(c.kind == "all-gather" and c.executions == of.STEPS for c in o.collectives)


def _of_x(o: Observed, which: int) -> bool:
    """Whether the first or the last collective, in the order of the text, gathers x."""
    one = o.collectives[which]
    return one.kind == "all-gather" and one.payload_bytes == o.inputs[0].nbytes


OUTCOME = (
    Misconception(
        "out-shardings-free", "out_shardings is a request, and the program pays for it: to turn rows into columns is an "
        "all-to-all, to have all on every device an all-gather (b and c).", 1,
        like=lambda got: not got["b"] or not got["c"]),
    Misconception(
        "slicing-moves", "Every device has the whole array and keeps its rows: nothing moves (d).", 1,
        like=lambda got: isinstance(got["d"], list) and got["d"]),
    Misconception(
        "in-shardings-move", "in_shardings does not cut a committed array, one that you have placed, in another way: it "
        "is a promise, and a broken promise is an error (e).", 2, like=lambda got: isinstance(got["e"], list)),
    Misconception(
        "numpy-in-the-program", "A NumPy array is cut on its way to the devices, before the program starts; in the program "
        "there is nothing to move (f).", 2, like=lambda got: isinstance(got["f"], list) and got["f"]),
    Misconception(
        "requests-refused", "Refused is only what breaks a promise: an argument that was placed, and cut otherwise "
        "than in_shardings says (e).", 2, like=lambda got: any(isinstance(got[key], str) for key in "abcdf")),
)  # fmt: skip
SHARES = (
    Misconception(
        "other-dimension", "Each column is to add up to 1; axis=0 is the dimension that is summed.", 1,
        like=lambda x: of.softmax_rows(x.T).T),
    Misconception(
        "local-softmax", "Each device divided by the sum of its own rows only.", 1, local=lambda at, x: of.softmax_rows(x)),
    Misconception(
        "out-shardings-free", "Something was computed across the cut rows, with an all-reduce of a number a column. A "
        "constraint or out_shardings says where an array lies, not how it is made: turn x first, and compute all from the "
        "turned one.", 1,
        when=lambda o: "all-to-all" in o.kinds and any(
            c.kind == "all-reduce" and c.payload_bytes % (o.inputs[0].itemsize * o.inputs[0].shape[1]) == 0
            for c in o.collectives)),
    Misconception(
        "gathers-everything", "To bring all of x to every device costs far more than to turn it.", 2,
        when=lambda o: of.gathers(o, of=0)),
    Misconception(
        "never-turned", "The output lies in rows; columns were asked for.", 1,
        when=lambda o: products.same(o, of.softmax_rows(o.inputs[0]))
        and o.placements[0].shard_shape[0] < o.placements[0].shape[0]),
)  # fmt: skip

MECHANISM = why(
    "What decides how much `cumsum` moves, along the dimension that is cut?",
    a=Believed(
        "The problem: a row needs all rows above it, so nothing less will do.",
        "the-problem-asks",
        "Less will do: `running_total` gives the same rows and gathers one row of each device. The ledger has both prices.",
    ),
    b=Believed(
        "Where the output lies: it stays cut, so each device makes its own rows from its own.",
        "output-decides",
        "Its output does stay cut, and was made from all rows: where an array lies does not say how it came there.",
    ),
    c="What XLA for CPU can do with cut rows; where it knows no way, it makes them whole first.",
)
