"""Chapter 4, exercise 4.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch04.ex01 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

CLASSIFY = (
    WrongValues(
        "clash-asked-last",
        "If two kept dimensions use one axis, the blocks that fit make only a diagonal of the output. One operand has to "
        "give up that axis, whatever the contracted dimension does. So look for the clash first.",
        2, like=of.mistaken(first="contraction")),
    WrongValues(
        "batch-letters-contracted",
        "A letter in both operands and in the output is a batch dimension. Nothing is summed over it.",
        1, like=of.mistaken(batch=True)),
    WrongValues(
        "axes-not-compared",
        "Two sharded operands are not enough for case 3. Over different axes, or over the same axes in another order, the "
        "devices hold different indices.", 2, like=of.mistaken(named=False)),
    WrongValues(
        "axes-in-any-order",
        "The order counts in an entry with two axes: ('x', 'y') and ('y', 'x') give a device different indices.", 3,
        like=of.mistaken(ordered=False)),
    *(WrongValues(
        "one-contracted-letter", "More than one letter may be contracted. Look at each of them.", 2,
        like=of.mistaken(letters=one)) for one in (slice(1), slice(-1, None))),
    WrongValues(
        "any-shared-axis-clashes",
        "One axis may stand in both specs. It clashes only if it shards two dimensions that both stay in the output.",
        1, like=of.mistaken(clash="any")),
    WrongValues(
        "pairs-compared-whole", "An entry may name two axes. Two entries clash if they share one of them.",
        3, like=of.mistaken(clash="whole")),
)  # fmt: skip

QUESTION = Question(
    "4.1", "Which case is it?", difficulty=2, minutes=30,
    items=(
        CallsItem("classify", {"V": 8}, oracle=of.case_of, draw=of.draw_einsum, drawn=200, calls=(
            ("ij,jk->ik", ["x", None], [None, "y"]), ("ij,jk->ik", [None, "x"], [None, None]),
            ("ij,jk->ik", [None, "x"], ["x", None]), ("ij,jk->ik", ["x", None], [None, "x"]),
            ("ij,jk->ik", [None, "x"], ["y", None]), ("ij,jk->ik", ["x", "y"], ["y", "x"]),
            ("ij,jk->ik", ["x", None], ["x", None]), ("bij,bjk->bik", ["x", None, None], ["x", None, None]),
            ("ij,jk->ik", [["x", "y"], None], [None, "y"]), ("ij,jk->ik", [None, ["x", "y"]], [["y", "x"], None]),
            ("ijl,ljk->ki", [None, "x", "y"], ["y", "x", None]), ("ijl,ljk->ki", [None, "x", "y"], [None, "x", None]),
            ("ijl,ljk->ki", [None, "x", "y"], ["y", None, None]), ("i,k->ik", ["x"], ["x"]), ("i,i->", ["x"], ["x"]),
            ("bhqd,bhkd->bhqk", ["x", "y", None, None], ["x", "y", None, None]),
        ), misconceptions=CLASSIFY),
    ),
    hints=(
        "Sort the letters first. Which stand in both operands and not in the output? Which stand in one operand and stay?",
        "Three questions, in this order: do two kept letters share an axis (4)? Does a contracted letter differ between "
        "the specs (2)? Is a contracted letter sharded at all (3)?",
        "Build dict(zip(letters, spec)) for each operand. For the clash, turn an entry into a set of axes. For the "
        "contracted letters, compare entries as they stand, because order counts.",
    ),
    explanation="Each case answers one question: what can a device do with what it holds? If two kept dimensions share a "
                "mesh axis, the devices together reach only some blocks of the output: case 4. If on some device the "
                "operands hold different indices of a contracted dimension, that device cannot multiply what it holds: "
                "case 2. If the operands hold the same indices everywhere, but not all of them, each product is a partial "
                "sum: case 3. Otherwise every device finishes its own block: case 1.\n\nThe grader does not use these "
                "rules. It simulates two devices along each axis, writes down which indices each holds, and looks at "
                "which entries of the output they reach. The rules agree with it on every einsum that it draws.",
)  # fmt: skip
