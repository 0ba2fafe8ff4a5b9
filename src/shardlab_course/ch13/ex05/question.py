"""Chapter 13, exercise 13.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch13.ex05 import oracle as of
from shardlab_course.ch13.shared import LINE, STEPS, TALL, WIDE, count, gathers, if_right, iterated, largest, rounds, says
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

LOOP = (
    WrongValues(
        "loop-counted-once", "A collective in a loop's body runs in every round: multiply by the number of rounds.",
        1, like=lambda got: got.get("bytes") in (264, 268) or got.get("runs") in (3, 4)),
    WrongValues(
        "first-dot-forgotten",
        "One sum, the first r·r, runs before the loop. It adds one collective and 4 bytes to those of the six rounds.",
        1, like=lambda got: got.get("bytes") == 1584 or got.get("runs") == 18),
    WrongValues(
        "sums-counted-twice",
        "The price counts an all-reduce's bytes twice. Payload is the bytes that come out: a sum of one number is 4 bytes.",
        2, like=says("bytes", 1640)),
    WrongValues(
        "bytes-of-the-matrix",
        "The matrix does not move. Each block of rows needs the whole vector: n numbers.",
        1, like=lambda got: got.get("gathered") in (2048, 16384)),
    WrongValues(
        "bytes-of-the-block",
        "Payload is the bytes that come out: after an all-gather the whole vector, 64 numbers, on every device.",
        2, like=lambda got: got.get("gathered") in (32, 224)),
)  # fmt: skip
SOLVER = (
    WrongCost(
        "gathers-the-matrix",
        "The matrix was gathered. Let the vector move: n numbers per round instead of n².",
        1, when=if_right(of.conjugate_gradients, gathers)),
    WrongCost(
        "rounds-unknown",
        "How often the loop runs depends on values, so its bytes are unknown before the run. This loop makes a fixed "
        "number of rounds: use fori_loop or scan.", 2, when=lambda o: any(c.executions is None for c in o.collectives)),
    WrongValues(
        "local-dot-products",
        "Each device summed over its own entries only, so each took steps of different lengths; dot products are over the "
        "whole vector.", 1, when=of.lonely_sums),
    WrongValues(
        "own-columns-only",
        "A row of A times p needs all of p. Each device used its own entries of p, which amounts to a block diagonal "
        "matrix.",
        1, when=of.lonely_products),
    WrongValues(
        "steepest-descent",
        "Every step went along the residual. The next direction is the new residual plus a multiple of the last direction.",
        2, like=iterated(steepest=True)),
    WrongValues(
        "converged", "This is the solution; the exercise asks for the approximation after six rounds.", 1,
        when=lambda o: rounds(o) > 12),
    WrongValues(
        "other-rounds", "This is the approximation after a number of rounds other than six.", 1,
        when=lambda o: rounds(o) not in (0, STEPS)),
    WrongProgram(
        "left-to-the-compiler",
        "Here XLA decides where sums are made. On x=2, y=4 XLA for CPU cuts the product over y as well, and then pays "
        "more than one gather of p. In shard_map you say what moves.", 2,
        when=if_right(of.conjugate_gradients, lambda o: not o.manual)),
    WrongCost(
        "residual-made-anew",
        "Two vectors travel in every round; one is enough, for the product with p. The new residual needs no product of its "
        "own: it is r - alpha A p. A dot product needs a sum of numbers, not a vector.", 2,
        when=if_right(of.conjugate_gradients,
                       lambda o: count(o, "all-gather") + count(o, "reduce-scatter") >= 2 * of.loops(o)
                       and of.products_twice(o))),
    WrongCost(
        "sums-whole-vectors",
        "A whole vector is all-reduced, which costs as much as a gather and a scatter together. Gather p before the "
        "product, or scatter the sum after it.", 2,
        when=if_right(of.conjugate_gradients, lambda o: largest(o, "all-reduce") >= o.inputs[1].nbytes)),
    WrongProgram(
        "third-dot-product",
        "More than two numbers are summed in a round, or more than two outside the rounds. A dot product is one number, "
        "and you already know r·r from the last round: carry it along.", 3,
        when=if_right(of.conjugate_gradients, lambda o: of.numbers_summed(o) > 2 * of.loops(o) + 2), barred=True),
)  # fmt: skip

QUESTION = Question(
    "13.5", "Conjugate gradients on blocks of rows", difficulty=3, minutes=50,
    items=(
        ValueItem("loop", {"P": 5}, predicted=True,
                  misconceptions=LOOP, key={"gathered": 256, "runs": 19, "bytes": 1588}),
        ProgramItem("cg", {"V": 3.5, "S": 1.5, "H": 5}, oracle=of.conjugate_gradients,
                    names=of.steps, misconceptions=SOLVER, rtol=1e-4,
                    atol=1e-5, tolerance="six rounds of float32 dot products, each in another order",
                    slack=of.before_the_loop, slack_reason="b is gathered, or multiplied, before the loop",
                    cases=(of.system(LINE, 64), of.system(WIDE, 40), of.system(TALL, 48)), draw=of.draw_system),
    ),
    hints=(
        "Write down each line of a round. Which lines need numbers that other devices have, and how many?",
        "A times p needs all of p. Each of the two dot products needs one number from every device. Everything else is "
        "entry by entry.",
        "In shard_map: dot = psum of the blocks' vdot; q = A @ all_gather(p, tiled=True); carry r·r along.",
    ),
    explanation="Most of a round is local: entry by entry, on vectors that are cut alike. The product needs the whole "
                "direction, n numbers, and each dot product needs one number from every device. The matrix, n² numbers, "
                "never moves. So iterative methods scale, as long as a round's n numbers are cheap compared with its n²/p "
                "products. All collectives are in a loop's body once, and run in every round. A ledger that forgets the "
                "number of rounds is wrong by that factor.\n\nUnder plain jit, XLA for CPU does as well as you on eight "
                "devices in a line and on x=4, y=2. On x=2, y=4 it cuts the direction over y as well, permutes its pieces, "
                "and all-reduces each half of the product: a higher price than one gather. With a stopping test the number "
                "of rounds depends on values, so you can only give bytes per round.",
)  # fmt: skip
