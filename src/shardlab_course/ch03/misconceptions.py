"""Chapter 3's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from typing import Any

from shardlab.placement import Spec
from shardlab_course.ch03 import oracles as of
from shardlab_judge.cases import Observed
from shardlab_judge.question import Misconception


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
ONE_OF_TWO = mistake("first-of-tuple", "The compiler combined two all-reduces: the output is a tuple, and both arrays "
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
    "fusion-overlooked", "calls=%all-reduce-scatter: on a TPU that is how a reduce-scatter is written.", 3,
    like=lambda got: got == "none")  # fmt: skip
WHOLE = Misconception(
    "counts-what-goes-in", "That is what goes in. Out comes this device's part of the sum, f32[64,512].", 2,
    like=lambda got: got["bytes"] == 524288)  # fmt: skip
TWICE = Misconception(
    "done-counted-again", "The -done waits for the -start of the same name; together they are one.", 2,
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
    *(Misconception(
        "tuples-overlooked", "Lines whose output is a tuple were not seen, and loops not multiplied.", 1,
        like=of.counted(tuples="none", rounds=rounds, pairs=pairs))
      for rounds in ("never", "once", "product") for pairs in ("done", "both")),
)  # fmt: skip

BLOCK = (
    Misconception(
        "more-constraints", "The constraint on H is still there; the others only repeat where the weights lie. A "
        "constraint can be taken away, too.", 2, when=lambda o: of.gathers(o, of=1) and of.constraints(o) > 2),
    Misconception(
        "relu-forgotten", "Between the two products stands a relu: negative hidden values become zero.", 1,
        like=lambda x, up, down: x @ up @ down),
    Misconception(
        "batch-over-everything", "H is asked to lie elsewhere than `X @ W1` leaves it, with rows over data and hidden "
        "units over model: to compute it there a device needs weights that it does not hold, and they are gathered.", 1,
        when=lambda o: of.gathers(o, of=1)),
    Misconception(
        "none-means-whole", "None in a constraint does not leave a dimension open: it asks for the whole of it on every "
        "device, so H is gathered over `model`.", 2,
        when=lambda o: any(c.kind == "all-gather" and c.payload_bytes == _hidden(o) for c in o.collectives)),
    Misconception(
        "scattered-and-gathered", "The sum over model leaves the output where it belongs; cut over model too, its rows "
        "have to be gathered again.", 1, when=lambda o: {"all-gather", "all-reduce"} <= o.kinds),
)  # fmt: skip


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
        "reshaping-is-free", "x.T.ravel() wants column after column, and every column lies on all devices.", 2,
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
        "own-total-included", "The offset of a shard is the sum of the totals before it, without its own.", 2,
        local=None, when=lambda o: _own_included(o)),
)  # fmt: skip


def _own_included(o: Observed) -> bool:
    (x,) = o.inputs
    n = dict(o.case.axes)["x"]
    totals = x.reshape(n, -1, x.shape[1]).sum(1).repeat(len(x) // n, axis=0)
    wrong = of.running_total(x) + totals
    return all(abs(block - wrong[index]).max() < 1e-3 for _, index, block in o.shards[0])


def _inner_cut(o: Observed) -> bool:
    """Whether the dimension between B and C is cut over all axes in both."""
    _, b, c, _ = of.specs(o)
    return _axes_of(b, 1) == _axes_of(c, 0) == {axis for axis, _ in o.case.axes}


def _axes_of(spec: Spec, dimension: int) -> set[str]:
    entry = spec[dimension] if dimension < len(spec) else None
    return {entry} if isinstance(entry, str) else set(entry or ())


FREE = (
    Misconception(
        "rows-everywhere", "With P('x') on all four, every contracted dimension is cut on one side: three gathers.", 1,
        when=_rows),
    Misconception(
        "inner-dimensions-cut", "Something is cut along a dimension that is summed, so there is something to gather or to "
        "add. Which dimensions stay to the end?", 1, when=lambda o: bool(o.collectives)),
    Misconception(
        "work-repeated", "Nothing moves, but devices do the same work. All 8 divide the work of all three products only if "
        "both axes cut the rows of A.", 2, when=lambda o: not o.collectives),
)  # fmt: skip
ONE = (
    Misconception(
        "rows-everywhere", "With P('x') on all four, every contracted dimension is cut on one side: three gathers.", 1,
        when=_rows),
    Misconception(
        "weights-stay-whole", "Then nothing moves, and every device holds B and C whole: the price was moved into memory.",
        1, when=lambda o: not o.collectives),
    Misconception(
        "another-dimension-cut", "One sum is enough to have both B and C cut by 8: the one over the dimension that they "
        "share, cut over both axes.", 2,
        when=lambda o: o.kinds == {"all-reduce"} and len(o.collectives) == 1 and not _inner_cut(o)),
    Misconception(
        "d-could-be-cut", "The all-reduce leaves A·B·C whole on every device, so columns of D can be cut for nothing, and "
        "the output with them.", 3, when=lambda o: o.kinds == {"all-reduce"} and len(o.collectives) == 1),
    Misconception(
        "b-and-c-do-not-fit", "B·C is a sum over their common dimension: cut B's columns and C's rows in the same way, and "
        "let A be whole, or there is something to gather.", 2, when=lambda o: len(o.collectives) > 1),
)  # fmt: skip

STEPS = (
    Misconception(
        "rows-only", "Rows make finished rows, so every step has to gather x first: six collectives. Who takes x as it "
        "lies?", 1, when=lambda o: o.kinds == {"all-gather"} and of.runs(o) >= of.STEPS),
    Misconception(
        "matrix-brought", "x has few columns and W has many: the matrix was brought to the vectors. Leave it where it "
        "lies, and move x.", 1, when=lambda o: of.gathers(o, of=1)),
    Misconception(
        "meets-in-every-step", "A reduce-scatter in every step moves no more, but all devices meet six times. Rows and "
        "columns in turn meet three times.", 1, when=lambda o: o.kinds == {"reduce-scatter"}),
    Misconception(
        "columns-only", "Columns make terms, so every step ends in a sum over all devices: six collectives, each twice the "
        "price of a gather.", 1, when=lambda o: o.kinds == {"all-reduce"} and of.runs(o) == of.STEPS),
    Misconception(
        "rows-before-columns", "x arrives cut. Rows want it whole, and leave it cut: gather. Columns want it cut. Begin "
        "with them.", 2, when=lambda o: "all-reduce" in o.kinds and o.collectives[0].kind == "all-gather"),
    Misconception(
        "brought-together-at-the-end", "After the last step x lies in rows, as it should; nothing more is to be done.", 3,
        when=lambda o: "all-reduce" in o.kinds and o.collectives[-1].kind == "all-gather"),
    Misconception(
        "one-step-too-few", "Six steps, and each divides by the root of N.", 1,
        like=lambda x, rows, columns: of.steps(x, rows, columns) * len(x) ** 0.5),
)  # fmt: skip

OUTCOME = (
    Misconception(
        "out-shardings-free", "out_shardings is a request, and the program pays for it: to turn rows into columns is an "
        "all-to-all, to have all on every device an all-gather (b and c).", 1,
        like=lambda got: not got["b"] or not got["c"]),
    Misconception(
        "slicing-moves", "Every device has the whole array and keeps its rows: nothing moves (d).", 1,
        like=lambda got: got["d"]),
    Misconception(
        "in-shardings-move", "in_shardings does not move an array that has a place already: it is a promise, and a broken "
        "promise is an error (e).", 2, like=lambda got: isinstance(got["e"], list)),
    Misconception(
        "numpy-in-the-program", "A NumPy array is cut on its way to the devices, before the program starts; in the program "
        "there is nothing to move (f).", 2, like=lambda got: got["f"]),
)  # fmt: skip
SHARES = (
    Misconception(
        "other-dimension", "Each column is to add up to 1; axis=0 is the dimension that is summed.", 1,
        like=lambda x: of.softmax_rows(x.T).T),
    Misconception(
        "local-softmax", "Each device divided by the sum of its own rows only.", 1, local=lambda at, x: of.softmax_rows(x)),
    Misconception(
        "out-shardings-free", "out_shardings says where the output ends. The softmax was computed on rows, with two "
        "all-reduces, and then turned.", 1, when=lambda o: {"all-reduce", "all-to-all"} <= o.kinds),
    Misconception(
        "gathers-everything", "To bring all of x to every device costs far more than to turn it.", 2,
        when=lambda o: "all-gather" in o.kinds),
    Misconception(
        "never-turned", "The values are right, and still lie in rows.", 1,
        when=lambda o: o.placements[0].shard_shape[1] == o.placements[0].shape[1]),
)  # fmt: skip
