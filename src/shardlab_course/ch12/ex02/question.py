"""Chapter 12, exercise 12.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch12.ex02 import oracle as of
from shardlab_course.ch12.misconceptions import IDLE, NOTHING_BESIDE, WAYS
from shardlab_course.ch12.shared import LINE, ROUNDING, WIDE, drawing, next_door, product, products, right, waited_for
from shardlab_course.shared import rings
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Check, Question, WrongCost, WrongProgram, WrongValues

EARLY = WrongProgram(
    "most-before-the-first-hop", "Every hop has arithmetic beside it, but more than half of all arithmetic is over before "
    "the first hop. Multiply each chunk only when its sum needs it.", 1, barred=True,
    when=lambda o: right(o, product) and waited_for(o, products(o)) > 0.5)  # fmt: skip

SCATTER = (
    *WAYS,
    WrongCost(
        "permutes-inputs", "Blocks of X or W travel. Here the sum of one chunk is smaller than the blocks that it is made "
        "from, so let sums travel.", 1, when=of.inputs_travel),
    WrongCost(
        "whole-sums-travel", "A hop carries as much as the sums, or terms, of all chunks. Each device ends with one "
        "chunk's sum, so a hop has to carry only one.", 1,
        when=lambda o: rings.only_permutes(o) and rings.largest(o) >= product(*o.inputs).nbytes),
    WrongCost(
        "one-hop-too-many", "n terms need n - 1 hops, and there are n. Perhaps the last one moves a finished sum on, or "
        "the first one carries zeros.", 2,
        when=lambda o: rings.hops(o) == rings.devices(o) and rings.only_permutes(o) and rings.ways(o) == 1
        and right(o, product)),
    NOTHING_BESIDE, EARLY, IDLE,
    WrongValues(
        "sum-ends-next-door", "Each sum is complete, but it is on the device next to its own: begin one chunk earlier, or "
        "later.",
        2, when=lambda o: next_door(o, product(*o.inputs))),
    WrongValues(
        "same-chunk-everywhere", "Terms of different chunks are added to one sum. Which chunk is due depends on axis_index, "
        "on the direction in which sums travel, and on how many hops they have made.", 2, when=of.mixed),
    WrongValues(
        "term-counted-twice", "Some sum has a device's term more than once: n terms need n - 1 additions.", 2,
        when=lambda o: of.miscounted(o, 1)),
    WrongValues(
        "term-left-out", "Every sum lacks terms: each device has to add its own term after every hop, the last one "
        "included.", 2,
        when=lambda o: of.miscounted(o, -1)),
)  # fmt: skip

QUESTION = Question(
    "12.2", "Send while the next is made", difficulty=4, minutes=55,
    known_as="a collective matmul with a reduce-scatter (Wang and others, 2023)",
    items=(
        ProgramItem("matmul_rs", {"V": 6, "S": 3, "H": 9}, oracle=product, manual=True,
                    checks=(Check("H", of.sums_hidden),), misconceptions=SCATTER, rtol=1e-4, atol=1e-4,
                    tolerance=ROUNDING, draw=drawing(of.scatter_case, True, True, False),
                    cases=(of.scatter_case(LINE, 32, 48, 24), of.scatter_case(WIDE, 24, 40, 9))),
    ),
    hints=(
        "A device's block of the product has a term for every chunk. Which chunk's sum has to leave first? Only the rows of "
        "that chunk need to be ready.",
        "It is the ring reduce-scatter of exercise 8.2, with a small product in place of the chunk: in round i device d "
        "adds rows (d - 1 - i) % n of X times W.",
        "total = part(0); then n - 1 times total = ppermute(total, to d + 1) + part(i), with part(i) = rows (d - 1 - i) % n "
        "of x, times w.",
    ),
    explanation="This is the mirror image of 12.1. There a product waits for a hop; here a hop waits for a product. So the "
                "product that can run beside a hop is that of the *next* chunk. What travels is a sum: T / n rows of the "
                "output. The inputs could travel instead, and the values would be right. But here the contracted dimension "
                "is longer than the others, so X and W together are larger than the sums, and every hop would carry "
                "more.\n\nIf you first make the whole product and then send its sums round, bytes and values are also the "
                "same, and no hop has anything beside it. A psum_scatter of the whole product waits for it too, up to the "
                "last row, unless a compiler takes the product apart.",
)  # fmt: skip
