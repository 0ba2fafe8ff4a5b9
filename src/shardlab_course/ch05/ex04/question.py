"""Chapter 5, exercise 5.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch05.ex04 import oracle as of
from shardlab_course.ch05.shared import (
    BY_COLUMNS,
    BY_ROWS,
    ONE_REPLICA,
    ONE_WEIGHT,
    TALL,
    WHOLE,
    WIDE,
    X_BY_COLUMNS,
    cut,
    draw_on_mesh,
    mlp,
    over,
    sizes,
)
from shardlab_course.shared.kinds import KINDS
from shardlab_judge.items.layout import LayoutItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongCost, WrongValues

NUMBERED = WrongCost(
    "degree-in-the-expression", "Numbers and stars do not follow the mesh. Name the axes of the mesh; each mesh then says "
    "how many devices its axes have.", 1, when=of.numbered)  # fmt: skip
BOTH = (
    NUMBERED,
    WrongCost(
        "batch-over-all", "The batch is cut over both axes. It belongs over 'data' only: the devices along 'model' share "
        "the same rows of X, and cut the weights.", 2, when=lambda o: set(over(o, 0, 0)) == {"data", "model"}),
    WrongCost(
        "batch-over-model", "The batch is cut over 'model', and it belongs over 'data'. 'model' is for y, in the weights.",
        2, when=lambda o: over(o, 0, 0) == ("model",)),
    BY_ROWS,
    X_BY_COLUMNS,
    WrongCost(
        "batch-not-cut", "b is not cut in X, so every device has the whole batch. Cut b over 'data'.", 1,
        when=lambda o: not cut(o, 0, 0)),
    WHOLE,
    BY_COLUMNS,
    *ONE_WEIGHT,
)  # fmt: skip
"""Of layouts on a mesh with the axes `data` and `model`; `ONE_WEIGHT` holds where X is as it should be."""

WRONG_KINDS = (WrongValues(
    "degree-adds-a-collective", "The collective stays the same, a sum over one axis. Only its size changes.",
    1, like=lambda got: isinstance(got, list) and got != ["all-reduce"]),)  # fmt: skip
FACTOR = (
    WrongValues(
        "payload-unchanged", "An all-reduce moves the rows of one data shard. There are now 2 such shards instead of 4, so "
        "each has twice as many rows.", 2, like=1),
    WrongValues(
        "payload-halved", "The weights are cut into smaller parts, but the weights do not move. The rows of a data shard "
        "move, and there are twice as many.", 2, like=0.5),
)  # fmt: skip

MECHANISM = why(
    "What sets the factor?",
    a=Believed(
        "How many devices add: a sum of more terms moves more.",
        "terms-are-bytes",
        "A sum is as large as one of its terms, however many there are. The terms themselves grew: they have more rows.",
    ),
    b=Believed(
        "How much of the weights a device has: it has half as much, so it sends half as much.",
        "weights-are-sent",
        "The ledger shows more bytes, not fewer. Weights stay where they are, and rows of the output are added.",
    ),
    c="How many rows each replica has: these rows are added up, and fewer replicas have more rows each.",
)

QUESTION = Question(
    "5.4", "From degree 2 to degree 4", difficulty=2, minutes=15,
    items=(
        ValueItem("kinds", {"P": 0.75}, predicted=True, key=["all-reduce"], members=KINDS, misconceptions=WRONG_KINDS),
        ValueItem("factor", {"P": 0.5}, predicted=True, key=2, misconceptions=FACTOR),
        MECHANISM,
        LayoutItem("layout", {"S": 0.75, "H": 0.75, "M": 0.75}, function=mlp,
                   misconceptions=BOTH, draw=draw_on_mesh,
                   reference={"X": "b x -> b@data x", "W1": "x y -> x y@model", "W2": "y z -> y@model z"},
                   cases=(sizes(8, 128, 256, 64, axes=WIDE), sizes(8, 128, 256, 64, axes=TALL),
                          sizes(8, 128, 256, 64, axes=ONE_REPLICA))),
    ),
    hints=(
        "Which numbers in the three expressions have to change together? Where could they be written once?",
        "The mesh has the sizes. An expression that names its axes with @ needs no number.",
        "In each expression replace the number of replicas by @data and the degree by @model. Axes that an expression "
        "does not name make copies, so remove the bare numbers.",
    ),
    explanation="With numbers, each expression contains the degree and the number of replicas, and all of them must "
                "change at once. If you forget one expression, the values are still right, at another price. With names, "
                "the expressions say which dimension has which role, and only the mesh says how many devices have the "
                "role. XLA, for CPU and for TPU, makes one all-reduce either way, over 'model'. But its size follows the "
                "other axis. A device adds up the output rows of its data shard, 8 / 4 of them before and 8 / 2 after, so "
                "twice the bytes. In return a device holds half as much of the weights.",
)  # fmt: skip
