"""Chapter 13, exercise 13.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch13.ex06 import oracle as of
from shardlab_course.ch13.shared import LINE, WIDE, gathers, if_right, largest, share, too_wide
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Check, Question, WrongCost, WrongProgram, WrongValues

FACTOR = (
    WrongCost(
        "gathers-the-matrix",
        "Every device receives the whole matrix, and needs memory for n² numbers. Let one panel travel at a time.",
        1, when=if_right(of.lower, gathers)),
    WrongCost(
        "as-large-as-the-matrix",
        "A device makes an array as large as the whole matrix. Its own rows and one panel are enough: it needs "
        "only its own rows of panel times panel transposed.",
        1, when=if_right(of.lower, lambda o: o.largest >= o.inputs[0].nbytes)),
    WrongProgram(
        "left-to-the-compiler",
        "Something is left to the compiler. Perhaps slices are taken of a cut matrix: they are on some devices and not on "
        "others, so XLA moves pieces in each round. In shard_map you say what moves.", 2,
        when=if_right(of.lower, lambda o: not o.manual)),
    WrongValues("upper-factor", "This is the upper factor, the transpose of the lower one.", 1, like=of.upper),
    WrongValues(
        "diagonal-blocks-only",
        "Each device factored its own diagonal block, as if there were no others.", 1, local=of.own_factor),
    WrongValues(
        "trailing-matrix-not-updated",
        "Every panel was made from the given matrix. After each panel, subtract panel times panel transposed from the "
        "rest of the matrix.",
        1, when=of.not_updated),
    WrongValues(
        "upper-triangle-kept",
        "On and below the diagonal the factor is right, and above it some entries are not zero. Set them to zero.",
        2, when=of.upper_kept),
    WrongCost(
        "panels-by-sum",
        "An array as large as a panel is sent by an all-reduce, for twice the bytes of a gather. Subtract a panel in each "
        "round: every device holds a part of it, so gather the parts.",
        2, when=if_right(of.lower, lambda o: largest(o, "all-reduce") >= share(o.case) // 2)),
    WrongCost(
        "gathers-panels-twice",
        "Each round runs two gathers of a panel's size. One device's block needs no gather of all blocks: a sum with "
        "zeros sends it. Or gather the column of blocks before the triangular solve, and not again.", 3,
        when=if_right(of.lower, of.gathers_panels_twice)),
)  # fmt: skip
STACK = (
    WrongValues(
        "brought-together",
        "All matrices were brought to every device. Each system of a stack can be solved on its own device: cut the stack "
        "by systems, and use nothing that needs all of it.", 1, when=if_right(of.systems, gathers)),
    WrongValues(
        "one-by-one",
        "Parts of the stack are sent from device to device. Perhaps systems are taken out one by one, as with A[i]: solve "
        "the whole stack at once.", 1, when=if_right(of.systems, lambda o: bool(o.collectives) and not o.manual)),
    WrongProgram(
        "left-to-the-compiler",
        "XLA for CPU leaves a stack of systems where it is, and XLA for TPU gathers it. Inside shard_map neither has "
        "anything to decide.", 1, when=if_right(of.systems, lambda o: not o.manual)),
    WrongValues(
        "damped-everywhere", "16 was added to every entry, and not to the diagonal alone: 16 I is 16 times the identity.",
        1, when=of.damped_everywhere),
    WrongValues("undamped", "The 16 on the diagonal is missing.", 1, like=of.undamped),
)  # fmt: skip

QUESTION = Question(
    "13.6", "A factor that nobody holds", difficulty=5, minutes=80, optional=True,
    items=(
        ProgramItem("cholesky", {"V": 5.5, "S": 2.5, "H": 5.5, "M": 8.5}, oracle=of.lower, misconceptions=FACTOR,
                    checks=(Check("M", too_wide),), rtol=1e-4, atol=1e-4,
                    tolerance="float32 elimination of a well-conditioned matrix",
                    cases=(of.matrix(LINE, 32), of.matrix(WIDE, 24)), draw=of.draw_matrix),
        ProgramItem("solve_stack", {"V": 2.5, "H": 2.5}, oracle=of.systems, manual=True, misconceptions=STACK,
                    rtol=1e-4, atol=1e-4, tolerance="float32 elimination of well-conditioned systems",
                    cases=(of.stack(LINE, 16, 5), of.stack(WIDE, 12, 6)), draw=of.draw_stack),
    ),
    hints=(
        "Round s makes the s-th column of blocks of the factor. Which parts of the matrix does it need, and which device "
        "has them?",
        "Send the diagonal block to all; each device solves for its own block of the panel; gather the panel; each device "
        "updates its own rows. Devices above the panel contribute zeros.",
        "L = cholesky(psum of the block where axis_index is s, else 0); mine = solve_triangular(L, block.T, lower=True).T, "
        "zero where axis_index < s; panel = all_gather(mine); A -= mine @ panel.T.",
    ),
    explanation="Add up the bytes: the panels of all rounds are n² numbers, as many as one gather of the matrix. If the "
                "matrix is cut by rows, you save no bytes. You save memory: no array on a device is larger than its rows "
                "or one panel, 1/p of the matrix, so you can factor a matrix that is too large for one device. And you "
                "save arithmetic: each device updates its own rows, whereas with the gathered matrix every device "
                "computes the whole factor.\n\nNeither XLA for CPU nor XLA for TPU finds this: both gather the matrix for "
                "one factorization. With a stack of systems they differ: on CPU it stays, on TPU jnp.linalg.solve gathers "
                "all of it, so solve_stack is in shard_map too. If rows are cut in contiguous blocks, the first devices "
                "become idle as rounds go by. For that reason ScaLAPACK deals blocks out cyclically. It does so over two "
                "mesh axes, which saves bytes as well.",
)  # fmt: skip
