"""Chapter 8, exercise 8.8: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch08.ex08 import oracle as of
from shardlab_course.ch08.shared import ROWS, SUMS, TERMS, WHOLE, program, scattered, summed, terms
from shardlab_course.shared.manual import LEFT
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

SUM_ITSELF = WrongProgram(
    "sums-in-one-go", "There is a finished all-reduce. Here, build it from a reduce-scatter and an all-gather.",
    1, when=lambda o: "all-reduce" in o.kinds, barred=True)  # fmt: skip
COMPOSE = (
    LEFT, SUM_ITSELF, SUMS,
    WrongProgram(
        "promise-not-proved",
        "out_specs promises equal copies, and the type of what you return varies. A block's type does, and so does that "
        "of an all_gather, unless you say to='invarying'.", 2, error="can't be statically inferred"),
    WrongCost(
        "gathers-all-terms",
        "Every device collects all terms. That takes n/2 times the bytes of an all-reduce, and n times its additions if "
        "every device adds them itself.",
        1, when=lambda o: o.kinds == {"all-gather"} and o.price >= o.inputs[0].nbytes),
    WrongCost(
        "half-an-all-reduce",
        "Every device holds its own part of the sum, and the program ends there. The all-gather is missing.",
        1, when=scattered),
    WrongProgram(
        "scatter-not-tiled",
        "Without tiled=True the size of the scattered dimension must be the number of devices along the axis, and the "
        "dimension disappears.",
        2, error="must match shard count"),
    WrongValues(
        "gather-not-tiled", "Without tiled=True the gather stacks the devices' parts along a new dimension.",
        2, when=lambda o: of.gathered_as(o, 3)),
    WrongValues(
        "gathers-another-dimension",
        "The sum was scattered along one dimension and gathered along another, so the parts do not come together again.",
        2, when=lambda o: of.gathered_as(o, 2)),
    WrongProgram(
        "moves-by-other-collectives", "Something other than psum_scatter and all_gather moves data. Here, build the "
        "all-reduce from these two.", 1, when=lambda o: bool(o.kinds - {"reduce-scatter", "all-gather"}), barred=True),
)  # fmt: skip

QUESTION = Question(
    "8.8", "An all-reduce in two halves", difficulty=2, minutes=15, optional=True,
    known_as="a reduce-scatter and an all-gather in place of an all-reduce (Thakur and others, 2005)",
    items=(
        program("two_halves", {"V": 1.5, "S": 0.75, "H": 2.25}, summed, TERMS, ROWS, WHOLE, terms, COMPOSE),
    ),
    hints=(
        "What is finished after a reduce-scatter, and what is missing? Which collective brings the missing part?",
        "psum_scatter leaves each device with its rows of the sum. all_gather along the same dimension puts the rows back "
        "together. Both are tiled.",
        "part = psum_scatter(term, 'x', scatter_dimension=0, tiled=True); then all_gather(part, 'x', axis=0, tiled=True, "
        "to='invarying'), and out_specs=P() needs no promise.",
    ),
    explanation="{U_x} becomes a subscript, and then the subscript disappears. The reduce-scatter has V bytes and the "
                "all-gather V bytes, together the 2 V of an all-reduce (if the compiler keeps the reduce-scatter). That is "
                "more than an identity. Between the halves every device holds a finished n-th of the sum. Whatever is done "
                "to it there is done once instead of n times: the optimizer's step in ZeRO, a normalization in sequence "
                "parallelism. And if no device needs the whole sum, omit the second half.\n\nto='invarying' says that all "
                "devices gathered the same array. After ppermute no type could say so, but after a gather JAX knows it.",
)  # fmt: skip
