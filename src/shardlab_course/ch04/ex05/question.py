"""Chapter 4, exercise 4.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import math

from shardlab_course.ch04.ex05 import oracle as of
from shardlab_course.ch04.shared import COLUMNS, LINE, ROWS, WIDE, gathers, program, right, scattered
from shardlab_course.shared.kinds import KINDS, compilers
from shardlab_course.shared.sent import sent
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

WRONG_KINDS = (
    WrongValues(
        "compiler-emits-reduce-scatter",
        "That would be the cheaper program. XLA for TPU v5e builds it for many arrays. XLA for CPU reduces all of C and "
        "then slices.",
        1, like=lambda got: "reduce-scatter" in str(got)),
    WrongValues(
        "slice-is-no-collective",
        "The slice is local: it moves nothing between devices.", 1, like=lambda got: "slice" in got),
)  # fmt: skip
SCATTERED = (
    WrongCost(
        "reduces-then-slices",
        "An all-reduce gives every device all of C, but each needs only its own rows. That is twice the price.",
        2, when=lambda o: right(o) and sent(o, "all-reduce") >= 4 * math.prod(o.placements[0].shape)),
    WrongCost(
        "gathers-operands", "Operands moved before the product. The partial products cost less, because a device then pays "
        "for one C, and not for all of A or B.",
        2, when=lambda o: right(o) and (gathers(o, 0) or gathers(o, 1))),
    WrongCost(
        "scattered-the-other-way",
        "The sum is split by columns. scatter_dimension=0 splits rows.", 1, when=lambda o: scattered(o, 1)),
    WrongValues(
        "partial-sums-stacked", "Each device returned its whole partial product, and out_specs put them one below another.",
        1, when=of.stacked),
    WrongProgram(
        "scatter-not-tiled",
        "Without tiled=True the size of the scattered dimension must be the number of devices along the axis, and the "
        "dimension disappears.",
        2, error="must match shard count"),
)  # fmt: skip

MECHANISM = why(
    "What decides that?",
    0.75,
    a=Believed(
        "The request: of all programs with this output, XLA for CPU takes the cheapest.",
        "cheapest-is-taken",
        "The same compiler makes this output at half the price if you write the collective yourself. So it did not look for "
        "the cheapest.",
    ),
    b="The product: its terms already lie along x, so XLA adds them up as it does without the request, and then cuts the "
    "output along x.",
    c=Believed(
        "The machine: CPUs lack some collectives, so XLA builds these from others.",
        "cpu-lacks-it",
        "XLA for CPU has every collective of the tables: it compiles your `psum_scatter` into a reduce-scatter.",
    ),
)

QUESTION = Question(
    "4.5", "Who asked for all of C?", difficulty=3, minutes=25,
    items=(
        ValueItem("kinds", {"P": 0.5}, predicted=True, key=frozenset({"all-reduce"}), members=(*KINDS, "slice"),
                  misconceptions=WRONG_KINDS),
        compilers(0.25, "GPU"),
        MECHANISM,
        program("case_3_scattered", COLUMNS, ROWS, ROWS, ((WIDE, (16, 24, 12)), (LINE, (24, 64, 16))), SCATTERED,
                lambda i, j, k: j >= max(i, k), v=1.5, h=3),
    ),
    hints=(
        "A device keeps only its rows of C. It needs the sum of everyone's partial products in those rows, and nothing "
        "else.",
        "An all-reduce is a reduce-scatter and then an all-gather. Which half do you need?",
        "Multiply the blocks, then jax.lax.psum_scatter over x with scatter_dimension for rows and tiled=True; out_specs "
        "names x for the rows.",
    ),
    explanation="A reduce-scatter adds the partial products C[I, K]{U_x} and splits the sum in one step: every device "
                "receives the terms of its own rows only. That moves I·K·4 bytes. An all-reduce moves them twice, and the "
                "slice after it throws away what the second half brought.\n\nFor P('x', None) XLA for CPU still compiles an "
                "all-reduce and a slice. XLA for TPU does so for arrays as small as the page's. The values are right and in "
                "the right places, so only the collectives in the compiled program show the difference. A prediction from a "
                "textbook is not a measurement of a compiler. In shard_map you write the collective, and XLA for CPU "
                "compiles what you wrote. XLA for TPU turns even a written psum_scatter into an all-reduce. For v5e it does "
                "so if the array is small or has few rows for each device. Over one axis of eight v5p chips (2 by 2 by 2) "
                "it did so for every array tried.",
)  # fmt: skip
