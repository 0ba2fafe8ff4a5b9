"""Chapter 4, exercise 4.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch04.shared import (
    BOTH,
    NEEDLESS,
    PARTIAL,
    PLANES,
    PROMISE,
    ROWS,
    TALL,
    WHOLE,
    WIDE,
    Y_COLUMNS,
    Situations,
    program,
    right,
    summed_over,
)
from shardlab_judge.question import Question, WrongValues

OVER_X = WrongValues(
    "reduces-over-rows", "The devices along y hold the partial sums of one block of rows. The devices along x hold other "
    "rows of C.",
    1, when=lambda o: o.manual and not right(o) and summed_over(o) == {"x"})  # fmt: skip

BLOCKS: Situations = ((WIDE, (16, 16, 16)), (TALL, (8, 24, 16)))

QUESTION = Question(
    "4.6", "Rows, columns, blocks", difficulty=3, minutes=20, optional=True,
    items=(
        program("row_by_replicated", ROWS, WHOLE, ROWS, PLANES, (NEEDLESS, PROMISE), lambda i, j, k: i != k,
                v=0.5, h=0.5),
        program("replicated_by_column", WHOLE, Y_COLUMNS, Y_COLUMNS, PLANES, (NEEDLESS, PROMISE),
                lambda i, j, k: i != k, v=0.5, h=0.5),
        program("block_by_row", ("x", "y"), ("y", None), None, BLOCKS,
                (PARTIAL, PROMISE, BOTH, OVER_X), lambda i, j, k: j >= i, v=1, h=2),
    ),
    hints=(
        "Two of the three are case 1. For the third, ask which mesh axis shards the contracted dimension, and which "
        "shards only the rows.",
        "Without communication the body is a plain product of blocks. in_specs say where the operands lie, and out_specs "
        "where their free dimensions go. The third program sums over one axis.",
        "In block_by_row a device holds rows over x and columns over y of A, and rows over y of B. Multiply, then psum over "
        "y, or psum_scatter over y for half the price.",
    ),
    explanation="Row by replicated and replicated by column are case 1, as row by column was in 4.2. Each device finishes "
                "its block of C, so a matmul of sharded arrays does not have to communicate at all. A[I_x, J_y]·B[J_y, K] "
                "is case 3 along y: its products are partial sums, C[I_x, K]{U_y}. An all-reduce over y leaves rows, "
                "P('x', None). A reduce-scatter leaves P('x', 'y') or P(('x', 'y'), None) for half the price. With I = J "
                "= K = 16 on a (4, 2) mesh the reduce-scatter costs 256 bytes and the all-reduce 512. Gathering both "
                "operands over y costs 1,280 bytes and repeats work. All three are right, and the last is too expensive.",
)  # fmt: skip
