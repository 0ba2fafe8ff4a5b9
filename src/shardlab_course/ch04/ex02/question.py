"""Chapter 4, exercise 4.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch04.shared import (
    BLOCKS,
    BOTH,
    COLUMNS,
    CUT_ROWS,
    DEALT_OUT,
    DIAGONAL,
    EARLY,
    FIRST_ROWS,
    LINE,
    NEEDLESS,
    ONE_AXIS,
    PARTIAL,
    PLANES,
    PROMISE,
    ROWS,
    STARTS,
    SWAPPED,
    TALL,
    TWICE,
    UNTILED,
    WHOLE,
    WIDE,
    Y_COLUMNS,
    program,
    right,
    summed_over,
)
from shardlab_course.shared.products import product, same
from shardlab_judge.question import Question, WrongValues

OVER_Y = WrongValues(
    "reduces-over-another-axis", "The partial sums differ along x, but they were summed along y. Along y they are equal, "
    "so each is only counted several times.",
    1, when=lambda o: not right(o) and summed_over(o) == {"y"})  # fmt: skip
MEAN = WrongValues(
    "mean-instead-of-sum",
    "All values are divided by the number of devices along x, as pmean does. The terms of a matrix product are added, not "
    "averaged.", 1, when=lambda o: same(o, product(*o.inputs) / dict(o.case.axes)["x"]))  # fmt: skip
CASE_4 = (DIAGONAL, ONE_AXIS, BOTH, SWAPPED)

QUESTION = Question(
    "4.2", "You are the compiler", difficulty=3, minutes=45,
    items=(
        program("case_1", ROWS, Y_COLUMNS, ("x", "y"), PLANES, (NEEDLESS, PROMISE), lambda i, j, k: i != k,
                manual=True),
        program("case_2", COLUMNS, WHOLE, WHOLE, ((WIDE, (8, 48, 16)), (LINE, (16, 48, 24))),
                (BLOCKS, CUT_ROWS, SWAPPED, TWICE, FIRST_ROWS, UNTILED, STARTS,
                 PARTIAL, PROMISE, BOTH),
                lambda i, j, k: j >= 2 * k, manual=True),
        program("case_3", COLUMNS, ROWS, WHOLE, ((WIDE, (8, 48, 20)), (LINE, (16, 64, 24))),
                (SWAPPED, TWICE, PARTIAL, PROMISE, OVER_Y, MEAN, EARLY, DEALT_OUT, BOTH),
                lambda i, j, k: j >= 2 * max(i, k),
                manual=True),
        program("case_4", ROWS, COLUMNS, None, ((TALL, (16, 24, 16)), (LINE, (24, 40, 24))), CASE_4,
                lambda i, j, k: i == k, manual=True),
    ),
    hints=(
        "For each case look at the blocks that one device holds. Can it multiply them? Is the result finished? Only then "
        "reach for a collective.",
        "Case 1 needs no collective. Case 2 gathers A's columns before the product. Case 3 sums after the product. Case 4 "
        "gathers one operand before the product. in_specs are the specs of the table.",
        "jax.lax.all_gather(block, 'x', axis=..., tiled=True) puts blocks side by side along that dimension. If out_specs "
        "omits x, add to='invarying'. In case 4, name x once in out_specs.",
    ),
    explanation="Case 1 multiplies blocks and is done. Case 2 has two right answers. You can bring the columns of A "
                "together (I·J·4 bytes). Or each device takes the rows of B that go with its columns, which costs nothing "
                "because it has all of B. The partial products are then added (2·I·K·4 bytes, because an all-reduce counts "
                "twice). Case 3 needs only this sum.\n\nIn case 4 one operand has to give up its axis. A and B are equally "
                "large in the check, so either gather costs the same there. Each budget is the price of the straightforward "
                "way. Gathering both operands is right, but too expensive.\n\nto='invarying' changes only the type in this "
                "program. (The program's derivative would change.) Every device that gathered has the same block, and "
                "to='invarying' says so, so out_specs may promise equal copies. check_vma=False would silence the question "
                "instead of answering it.",
)  # fmt: skip
