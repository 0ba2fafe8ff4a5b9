"""Chapter 6's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

import re

from shardlab_course.ch06 import oracles as of
from shardlab_course.shared import products
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception
from shardlens import Spec

TYPES = (
    Misconception(
        "axes-stay-in-place",
        "Axes belong to dimensions, not to places: transposed, rows still lie over x, wherever they stand.",
        1, like=lambda got: got["a"] == "float32[16@x,8@y]"),
    Misconception(
        "result-guessed",
        "Both dimensions that are summed lie over y: the terms have to be added, and JAX has no rule for where the "
        "sum should lie. It raises.", 2, like=lambda got: got["h"] not in ("error", None)),
    Misconception(
        "none-against-axis-clashes",
        "None against an axis is no conflict: the whole operand is sliced for nothing. Two different axes in one "
        "dimension, or one axis in two dimensions, are an error.", 2, like=lambda got: got["f"] == "error"),
    Misconception(
        "sum-replicates", "A sum over rows takes away the dimension over x, and nothing else: what is left stays over y.",
        1, like=lambda got: got["b"] == "float32[16]"),
    Misconception(
        "reshape-forgets",
        "Merged dimensions carry their axes, the slower first, and d's slower one has y; a split hands the axis to "
        "the first part if it divides.",
        3, like=lambda got: got["d"] in ("float32[128]", "error") or got["e"] in
        ("float32[8@x,4,4@y]", "float32[8@x,4,4]", "error")),
    Misconception(
        "whole-sum-doubted",
        "U is whole, so in the dimension that is summed only one operand has an axis: what is missing can be had, "
        "and JAX has a rule for the result. It raises where it has none.", 2, like=lambda got: got["i"] == "error"),
)  # fmt: skip

AMBIGUOUS = Misconception(
    "no-out-sharding",
    "The dimension that is summed is sharded in both operands; whether the sum is to be whole, or cut and "
    "how, JAX asks you.", 1, error="Contracting dimensions are sharded")  # fmt: skip
GATHERED_TERMS = Misconception(
    "gathers-before-the-product", "Operands were made whole first, which moves more than adding up the terms does.",
    2, when=lambda o: o.kinds == {"all-gather"})  # fmt: skip
CONTRACTION = (
    AMBIGUOUS,
    Misconception(
        "sum-made-whole",
        "The error wants to know where the sum should lie; P() puts all of it on every device, also the rows that nobody "
        "asked for.", 1, when=lambda o: of.lies(o, ()) or (of.lies(o, ("x", None))
        and of.moved(o, "all-gather") == o.inputs[0].shape[0] * o.inputs[1].shape[1] * 4)),
    GATHERED_TERMS,
)  # fmt: skip
CLASH = (
    Misconception(
        "clash-unresolved", "Rows and columns of the product would both lie over x. One operand has to give up its x first.",
        1, error="illegally sharded result"),
    Misconception(
        "left-to-out-sharding",
        "out_sharding says where, not how: XLA moved blocks between devices first and then gathered over y. Reshard B "
        "yourself, and it is one gather.", 2,
        when=lambda o: "collective-permute" in o.kinds and of.moved(o, "all-gather") == o.inputs[1].nbytes),
    Misconception(
        "wrong-operand-gathered",
        "A has the rows already that the product should have: to gather it moves what lies right.", 2,
        when=lambda o: of.moved(o, "all-gather") in (o.inputs[0].nbytes, o.inputs[0].nbytes + o.inputs[1].nbytes)),
)  # fmt: skip
ADDED = (
    Misconception(
        "clash-unresolved",
        "Rows over x from one side, columns over x from the other: no device could hold its part of both.",
        1, error="illegally sharded result"),
    Misconception(
        "gathers-to-add",
        "To gather an operand brings every device all of it, and each needs one part. An all-to-all brings only that part.",
        2, when=lambda o: "all-gather" in o.kinds),
    Misconception(
        "other-operand-moved", "A lies right already; it is B that has to move.", 1,
        when=lambda o: (of.lies(o, (None, "x")) and "all-to-all" in o.kinds)
        or of.moved(o, "all-to-all") > o.inputs[1].nbytes // dict(o.case.axes)["x"]),
)  # fmt: skip
MERGED = (
    Misconception(
        "reshape-unresolved",
        "The sharded dimension is not the first of those that are merged, so a device's positions are not one run of the "
        "result but a piece of each sequence; JAX wants to be told where the result should "
        "lie.", 1, error="reshape is not supported"),
    Misconception(
        "gathers-to-merge", "Everything was brought together. Each position has to go to one device only.",
        2, when=lambda o: of.moved(o, "all-gather") == o.inputs[0].nbytes),
    Misconception(
        "order-changed",
        "Transposed first, the merge needs no communication, and is another one: positions come out ahead of sequences.",
        1, like=lambda h: h.swapaxes(0, 1).reshape(-1, h.shape[2])),
)  # fmt: skip
PICKED = (
    Misconception(
        "lookup-unresolved",
        "Any row may lie on any device, so JAX wants to know where the result should lie; indexing has no place for that, "
        "`.at[...].get` has.", 1, error=r"\.at\[\.\.\.\]\.get"),
    Misconception(
        "gathers-the-table", "The table itself was moved, to pick a few rows of it.",
        2, when=lambda o: of.moved(o, "all-gather") >= o.inputs[0].nbytes or "all-to-all" in o.kinds),
)  # fmt: skip

WHOLE_SUM = (AMBIGUOUS, Misconception(
    "sum-left-open", "Each device still holds its own term: the output is unreduced along x, not replicated.",
    1, when=lambda o: "x" in o.terms[0]))  # fmt: skip


def cut_sum(other: Spec) -> tuple[Misconception, ...]:
    """Of a sum that is to be cut along one dimension, where `other` cuts the other one."""
    return (
        AMBIGUOUS,
        Misconception(
            "sum-not-cut", "The sum is whole on every device; name x in the dimension that is to be cut.",
            1, when=lambda o: of.right(o, of.summed_products) and of.lies(o, ())),
        Misconception(
            "cut-the-other-way", "The sum is cut along the other dimension: entries of a spec are dimensions, in "
            "order.", 1, when=lambda o: of.right(o, of.summed_products) and of.lies(o, other)),
        Misconception(
            "sum-left-open", "Each device still holds its own term: the output is unreduced along x.",
            1, when=lambda o: "x" in o.terms[0]),
        GATHERED_TERMS,
    )  # fmt: skip


TERMS = (
    AMBIGUOUS,
    Misconception(
        "sum-already-paid",
        "The terms are added up already. Nothing has to move as long as the type says who still has to add.",
        2, when=lambda o: bool(o.kinds & {"all-reduce", "reduce-scatter"}) and not o.terms[0]),
    GATHERED_TERMS,
)  # fmt: skip
LATE = (
    AMBIGUOUS,
    Misconception(
        "pays-three-times",
        "More than one sum is added up over the devices, and each moves its bytes. Terms may be added to terms first, "
        "without communication.",
        2, when=lambda o: of.right(o, of.summed_products)
        and of.moved(o, "all-reduce") >= 2 * of.summed_products(*o.inputs[:2]).size * 4),
    Misconception(
        "never-pays",
        "The sum of the three is still unreduced along x; jax.reshard adds it up.", 2, when=lambda o: "x" in o.terms[0]),
    Misconception(
        "joins-sharded-dimensions",
        "To put matrices side by side along a dimension that is sharded moves their blocks to other devices.",
        3, when=lambda o: "all-to-all" in o.kinds),
    GATHERED_TERMS,
)  # fmt: skip

KINDS = (
    Misconception(
        "typed-sharded-so-quiet",
        "The type says where the result lies, not how it came there: nothing in it forbids to gather, compute "
        "everything everywhere, and slice, and XLA for CPU of JAX 0.10 does.", 1, like=lambda got: not got["fft"]),
    Misconception(
        "all-suspected", "A sort along a dimension that is whole on each device needs nobody else.", 1,
        like=lambda got: any("-" in kind for kind in got["sort"])),
    Misconception(
        "softmax-stays-at-home", "A softmax divides by a sum over the whole row, and each row lies on several devices.",
        1, like=lambda got: not got["softmax"]),
)  # fmt: skip
AUDIT = (
    Misconception(
        "trusts-the-type", "Types alone cannot say it: that is the mistake to be caught. Look into the compiled text.",
        1, like=of.mistaken(types=True)),
    Misconception(
        "counts-words",
        "The words also stand in names and in op_name, where they mean nothing; look for the operation, before its "
        "bracket.", 2, like=of.mistaken(words=True)),
    Misconception(
        "compares-whole-types",
        "The dtype and the sizes may change without any resharding; compare what stands behind each @.",
        2, like=of.mistaken(text=True)),
    Misconception(
        "knows-gathers-only", "An all-gather is one way of moving; there are reductions, exchanges and permutes too.",
        1, like=of.mistaken(gathers=True)),
    Misconception(
        "start-forgotten", "An asynchronous collective is written with -start behind its name, and moves as much.",
        2, like=of.mistaken(found=lambda hlo: re.search(rf" ({of.KINDS})\(", hlo))),
    Misconception(
        "tuples-have-blanks",
        "What stands between the equals sign and the operation may contain blanks: where several arrays come out, it is a "
        "tuple.", 2, like=of.mistaken(found=lambda hlo: re.search(rf"= \S+ ({of.KINDS})(-start)?\(", hlo))),
    Misconception(
        "dimensions-forgotten",
        "Both types name the same axes, but of different dimensions: from rows to columns is a resharding.",
        3, like=of.mistaken(anywhere=True)),
)  # fmt: skip

PORTED = (
    Misconception(
        "constraint-is-an-assert",
        "On Explicit axes with_sharding_constraint moves nothing, it compares. To move, use jax.reshard.",
        1, error="acts as an assert"),
    AMBIGUOUS,
    Misconception(
        "constraint-deleted",
        "Every device has all rows of the output. So it is where X was never cut, because its constraint was deleted "
        "with the error, or where the last product is asked to be whole.", 2, when=lambda o: of.lies(o, ())),
    Misconception(
        "resharded-at-the-end",
        "All rows were computed and added up on every device, and cut afterwards: X has to be cut first.",
        2, when=lambda o: of.right(o, of.mlp) and of.moved(o, "all-reduce") == o.inputs[0].nbytes),
    Misconception(
        "weights-made-whole",
        "The weights were brought to every device, and the hidden units are no longer divided. Leave them where they lie.",
        2, when=of.weight_gathered),
    Misconception(
        "whole-batch-everywhere",
        "X was cut too late, or never: every device worked on all rows, and threw most of them away.",
        3, when=of.all_rows_worked_on),
)  # fmt: skip

GATHERS_WEIGHTS = Misconception(
    "gathers-the-weights", "The weights were brought to every device; what has to be added is one number a unit.",
    2, when=of.weight_gathered)  # fmt: skip
AUTO = (GATHERS_WEIGHTS,)
EXPLICIT = (AMBIGUOUS, GATHERS_WEIGHTS)
MANUAL = (
    Misconception(
        "left-to-the-compiler", "This one is to be written with jax.shard_map, the sum over devices inside of it.",
        1, when=lambda o: not o.manual),
    Misconception(
        "terms-returned", "Each device took its own term for the sum. Add terms up over x, before bias and sigmoid.",
        2, local=of.local_layer),
    Misconception(
        "promise-not-proved", "out_specs promises equal copies over an axis over which the type still varies. A sum over x "
        "makes x go; and nothing here has to depend on where along y a device is.",
        2, error="can't be statically inferred"),
    Misconception(
        "mean-for-sum",
        "pmean is the mean of the terms: the sum comes out divided by the number of devices along "
        "x.", 3, when=of.mean_of_terms),
    Misconception(
        "bias-added-n-times",
        "The bias is in every device's term, so the sum has it once for each device along x.", 3, when=of.bias_each_time),
    Misconception(
        "curved-before-the-sum",
        "The sigmoid of a sum is not the sum of sigmoids: add the terms first.", 3, when=of.curved_terms),
    GATHERS_WEIGHTS,
)  # fmt: skip

COPIES = (
    Misconception(
        "published-claim",
        "So the published text says. P('x') cuts into as many parts as x has devices, 2; along y all four hold the same.",
        1, like=1),
    Misconception(
        "before-not-after", "That was before: the sum comes out over y, 4 parts, with a copy along x.", 1, like=2),
    Misconception("parts-not-copies", "All eight hold something, but not all hold the same.", 1, like=8),
)  # fmt: skip
FULLY = (
    Misconception(
        "rows-added-up-each",
        "axis=0 is the dimension that the sum takes away: the rows are added to each other, and the columns stay.",
        1, like=lambda x: x.sum(axis=1), when=lambda o: products.shape(o) == o.inputs[0].shape[:1]),
    Misconception(
        "two-entries", "The sum has one dimension, so its spec has one entry: both axes go into it, as a tuple.",
        2, error=r"\(1, P\('\w', '\w'\)\)|\(2\) must be equal to aval's ndim \(1\)"),  # JAX 0.10 says it, or 0.12
    Misconception(
        "published-answer",
        "P('x') is the published answer: it cuts over x only, so along y all devices hold the same, and it moves the "
        "blocks besides.", 1, when=lambda o: of.lies(o, ("x",))),
    Misconception(
        "as-the-sum-leaves-it", "The sum lies over y, and the devices along x hold copies of it. Cut further.",
        1, when=lambda o: of.lies(o, ("y",)) and not any(o.terms)),
    Misconception(
        "other-order",
        "Each element has one device, but often not one that held it after the sum: blocks have to be sent. Let y stay "
        "the slower of the two.", 2, when=lambda o: of.lies(o, (("x", "y"),)) and of.right(o, of.column_sums)),
    Misconception(
        "made-whole", "The sum lies whole on every device, or did on the way.",
        1, when=lambda o: products.shape(o) == o.inputs[0].shape[1:] and (
            of.lies(o, ()) or of.moved(o, "all-gather") == o.inputs[0].shape[1] * 4)),
    Misconception(
        "array-moved",
        "The whole array was rearranged before its rows were added up. After the sum there is only one row to place.",
        2, when=lambda o: "all-to-all" in o.kinds),
    Misconception(
        "constraint-is-an-assert",
        "On Explicit axes with_sharding_constraint moves nothing: it compares the spec with the type, and with no mesh set "
        "it refuses any that names an axis. To move, use jax.reshard.", 1,
        error="acts as an assert|can only refer to Auto axes"),
)  # fmt: skip

MECHANISM = why(
    "What does a spec say of a mesh axis that it does not name?",
    a="That nothing is cut over it: devices along it hold the same.",
    b=Believed(
        "Nothing: JAX spreads the array over it as well, if that divides.",
        "rest-is-spread",
        "The picture shows the same elements on several devices: over an axis that is not named JAX spreads nothing.",
    ),
    c=Believed(
        "That all stays as it was: what lay over that axis still does.",
        "axis-keeps-its-cut",
        "The sum lay over y, and in the picture devices along y hold the same: a spec is all there is, "
        "what was before is gone.",
    ),
)
