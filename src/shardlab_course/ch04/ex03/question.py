"""Chapter 4, exercise 4.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch04.ex03 import oracle as of
from shardlab_course.ch04.shared import (
    BOTH,
    COLUMNS,
    DIAGONAL,
    LINE,
    ONE_AXIS,
    ROWS,
    SWAPPED,
    TALL,
    Situations,
    gathers,
    program,
    scattered,
)
from shardlab_course.shared import products
from shardlab_judge.question import Question, WrongCost, WrongProgram

DETOUR = WrongCost(
    "compiler-detour",
    "XLA for CPU moved blocks between devices, and then gathered over y. Perhaps it was left to choose, which it does by "
    "rules of thumb. One gather over x is enough: write it in shard_map.",
    2, when=lambda o: not o.manual and "collective-permute" in o.kinds
    and any(c.kind == "all-gather" and c.axes == ("y",) for c in o.collectives))  # fmt: skip

WRONG_WAY = WrongProgram(
    "gathered-along-the-other-dimension",
    "The blocks were put together along the dimension that is summed. Gather along the dimension that axis x cuts: axis=1 "
    "for columns of B, axis=0 for rows of A.", 3, error=products.misfit("long"))  # fmt: skip

TOWARDS_COLUMNS = (
    DIAGONAL, ONE_AXIS, DETOUR, BOTH, WRONG_WAY, SWAPPED,
    WrongCost(
        "other-side-scattered", "C lies in rows, because B was gathered and A stayed. For columns, gather A.",
        1, when=lambda o: scattered(o, 0) and gathers(o, 1)),
    WrongCost(
        "gathers-what-should-stay",
        "B already has the columns that C should have. If B is gathered, C ends up cut by rows and has to be cut "
        "anew. A is the operand that must move.", 2, when=lambda o: of.gathers_only(o, 1) and of.left_is_cheaper(o)),
)  # fmt: skip

SIDES: Situations = (
    (TALL, (8, 12, 24)), (LINE, (32, 24, 16)), (TALL, (16, 8, 24)), (TALL, (72, 40, 64)), (TALL, (48, 56, 56)),
)  # fmt: skip
"""One operand much smaller, and one a little."""

QUESTION = Question(
    "4.3", "Case 4, and the side is given", difficulty=2, minutes=15, optional=True,
    items=(
        program("case_4_columns", ROWS, COLUMNS, COLUMNS, SIDES, TOWARDS_COLUMNS, lambda i, j, k: i != k, v=1.5, h=1.5),
    ),
    hints=(
        "A device that holds some columns of B can compute the same columns of C if it has all of A. What must move?",
        "Leave alone the operand whose dimension stays sharded in C. Gather the other one along its sharded dimension.",
        "all_gather the block of A with axis=0 and tiled=True, multiply it with the block of B, and name x in the second "
        "place of out_specs.",
    ),
    explanation="C[I, K_x] needs all of A on every device, I·J·4 bytes. C[I_x, K] would need all of B, J·K·4 bytes. What is "
                "already in its place does not move. The work is still divided, because the columns of C stay cut. Device i "
                "can compute block (i, i) of C from what it holds, and no device can compute any other block. P('x', 'x') "
                "would name just these blocks, and no device would hold the others. That is why this spec is not legal.\n\n"
                "If the operand that must move is much larger, there is a third way. Gather the smaller one, so that C "
                "comes out on the wrong side, and turn C with an all-to-all, which moves only C's own shard. The check "
                "accepts that if it costs no more. The page measures both.",
)  # fmt: skip
