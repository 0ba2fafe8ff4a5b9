"""Chapter 6, exercise 6.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch06.ex07 import oracle as of
from shardlab_course.ch06.shared import explicit, lies, moved, program, right
from shardlab_course.shared import products
from shardlab_course.shared.sent import sends_a_part
from shardlab_judge.cases import Case, Input
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues
from shardlens import Axes

COPIES = (
    WrongValues(
        "published-claim",
        "That is what the published text says. But P('x') cuts into as many parts as axis x has devices, 2, and all four "
        "devices along y hold the same part.",
        1, like=1),
    WrongValues(
        "before-not-after",
        "That was true before the change: the sum comes out over y, in 4 parts, with a copy for each place along "
        "x.", 1, like=2),
    WrongValues("parts-not-copies", "All eight hold something, but not all hold the same part.", 1, like=8),
)  # fmt: skip
FULLY = (
    WrongValues(
        "rows-added-up-each",
        "axis=0 is the dimension that the sum takes away: rows are added to each other, and the columns stay.",
        1, like=lambda x: x.sum(axis=1), when=lambda o: products.shape(o) == o.inputs[0].shape[:1]),
    WrongProgram(
        "two-entries", "The sum has one dimension, so its spec has one entry. Both axes go into this entry, as a tuple.",
        2, error=r"\(1, P\('\w', '\w'\)\)|\(2\) must be equal to aval's ndim \(1\)"),  # JAX 0.10 says it, or 0.12
    WrongCost(
        "published-answer",
        "P('x') is the published answer. It cuts over x only, so all devices along y hold the same part, and it also moves "
        "the blocks.", 1, when=lambda o: lies(o, ("x",))),
    WrongCost(
        "as-the-sum-leaves-it", "The sum lies over y, and the devices along x hold copies of it. Cut it further.",
        1, when=lambda o: lies(o, ("y",)) and not any(o.terms)),
    WrongCost(
        "other-order",
        "Each element is on one device, but often on a device that did not hold it after the sum, so blocks have to be "
        "sent. Let axis y stay the slower of the two axes.",
        2, when=lambda o: lies(o, (("x", "y"),)) and right(o, of.column_sums)),
    WrongCost(
        "made-whole", "The sum is whole on every device, or was whole at some point.",
        1, when=lambda o: products.shape(o) == o.inputs[0].shape[1:] and (
            lies(o, ()) or moved(o, "all-gather") == o.inputs[0].shape[1] * 4)),
    WrongCost(
        "array-moved",
        "The whole array was rearranged before its rows were added up. After the sum there is only one row to place.",
        2, when=lambda o: sends_a_part(o, "all-to-all")),
    WrongProgram(
        "constraint-is-an-assert",
        "On Explicit axes with_sharding_constraint moves nothing: it compares the spec with the type. If no mesh is set, "
        "it refuses every spec that names an axis. To move, use jax.reshard.", 1,
        error="acts as an assert|can only refer to Auto axes"),
)  # fmt: skip

MECHANISM = why(
    "What does a spec say about a mesh axis that it does not name?",
    a="Nothing is cut over that axis: all devices along it hold the same part.",
    b=Believed(
        "Nothing: JAX spreads the array over that axis too, if it divides the array.",
        "rest-is-spread",
        "The picture shows the same elements on several devices. JAX spreads nothing over an axis that the spec does not "
        "name.",
    ),
    c=Believed(
        "Everything stays as it was: what was cut over that axis still is.",
        "axis-keeps-its-cut",
        "The sum lay over y, and in the picture devices along y hold the same part. A spec replaces whatever was there "
        "before.",
    ),
)


def sum_case(mesh: Axes, i: int, k: int) -> Case:
    """Rows over x, columns over y; their sum on all devices, y the slower axis."""
    return explicit(mesh, (("y", "x"),), Input((i, k), ("x", "y")))


QUESTION = Question(
    "6.7", "Fully sharded", difficulty=3, minutes=15, optional=True,
    items=(
        ValueItem("copies", {"P": 0.5}, predicted=True, key=4, misconceptions=COPIES),
        MECHANISM,
        program("fully_sharded", of.column_sums, sum_case, ((16, 24), (24, 40)), FULLY,
                points={"V": 1, "S": 1, "H": 1}),
    ),
    hints=(
        "Count: into how many parts does P('x') cut on this mesh? There are eight devices, and each part lies on some of "
        "them.",
        "One dimension can be cut by two axes: P(('a', 'b')). With which of the two orders does each part lie on a device "
        "that already holds it?",
        "After the sum the device at place y along axis y holds block y. Cut each block further over x: the slower one "
        "is axis y.",
    ),
    explanation="A spec that names one axis cuts into as many parts as that axis has devices, and all other devices hold "
                "copies. On 2 by 4, P('x') leaves four copies of each element. The sum itself, cut over y, had left two. "
                "The change to P('x') moves data as well.\n\nWith both axes in one entry, a one-dimensional array is spread "
                "over all eight devices. If axis y is the slower one, every device keeps a part of what it holds, and "
                "nothing moves after the sum. If axis x is the slower one, blocks change places first. With psum_scatter in "
                "shard_map even the sum costs half, as XLA for CPU compiles it (chapter 8 has the exception). A published "
                "text has this mistake, which shows how little a spec alone tells you. Look at the picture.",
)  # fmt: skip
