"""Chapter 12, exercise 12.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch12.ex01 import oracle as of
from shardlab_course.ch12.misconceptions import INDICES, LATE, MORE, NOTHING_BESIDE, ONE_MORE, WAYS
from shardlab_course.ch12.shared import FIVE, HIDDEN, LINE, ROUNDING, WIDE, block_bytes, drawing, gather_case, product
from shardlab_course.shared import rings
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost

GATHER = (*WAYS, *MORE, *INDICES, ONE_MORE, NOTHING_BESIDE, LATE)
BOTH = (
    *WAYS, *MORE,
    WrongCost(
        "antipode-sent-twice", "With an even n the chunk of the opposite device comes from both sides; it is needed only "
        "once.", 3,
        when=lambda o: (n := rings.devices(o)) % 2 == 0 and o.depth == n // 2 and rings.hops(o) == n
        and rings.needless(o)),
    *INDICES, ONE_MORE, NOTHING_BESIDE, LATE,
    WrongCost(
        "still-one-way", "All chunks still go one way round: there are n - 1 hops, and each waits for the one before.", 3,
        when=lambda o: rings.only_permutes(o) and o.depth == rings.hops(o) == rings.devices(o) - 1 and rings.ways(o) == 1),
    WrongCost(
        "halves-all-the-way", "Half a chunk goes each way, but all the way round. Whole chunks only need to go half round.",
        3, when=lambda o: of.all_round_twice(o) and rings.largest(o) < block_bytes(o, 0)),
    WrongCost(
        "all-round-both-ways", "Chunks go all the way round in both directions, so each arrives twice. Half round is "
                               "enough.",
        3, when=lambda o: of.all_round_twice(o) and rings.largest(o) == block_bytes(o, 0)),
)  # fmt: skip

QUESTION = Question(
    "12.1", "Multiply while it arrives", difficulty=3, minutes=60,
    known_as="a collective matmul with an all-gather (Wang and others, 2023)",
    items=(
        ProgramItem("ag_matmul", {"V": 3.5, "S": 1.75, "H": 5.25}, oracle=product, manual=True, checks=HIDDEN,
                    misconceptions=GATHER, rtol=1e-4, atol=1e-4,
                    tolerance=ROUNDING, draw=drawing(gather_case, False, True, True),
                    cases=(gather_case(LINE, 6, 32, 40), gather_case(WIDE, 10, 24, 20))),
        ProgramItem("ag_matmul_both", {"V": 1.75, "S": 1.75, "H": 3.5}, oracle=product, manual=True,
                    checks=HIDDEN, misconceptions=BOTH,
                    deepest=lambda case: dict(case.axes)["x"] // 2, rtol=1e-4, atol=1e-4, tolerance=ROUNDING,
                    draw=drawing(gather_case, False, True, True),
                    cases=(gather_case(LINE, 6, 32, 40), gather_case(FIVE, 7, 20, 30))),
    ),
    hints=(
        "Write the product as a sum over chunks first. Which rows of W belong to the chunk that a device has after i hops?",
        "With a ring that sends to d - 1, device d holds chunk (d + i) % n after i hops. Multiply it with the rows of that "
        "chunk, and pass it on; neither needs the other.",
        "In round i: dynamic_slice_in_dim(w, (d + i) % n * k, k), add x @ part, and in all rounds but the last, ppermute x. "
        "With both directions, the right-moving chunk meets rows d-i, the left-moving one d+i.",
    ),
    explanation="No device ever holds the gathered array. A product with it is a sum over chunks, and you may add up a sum "
                "in any order. Each device begins with its own chunk, a different one on each device, and goes on with the "
                "chunks that arrive. While one chunk is multiplied the next is under way, because neither needs the "
                "other.\n\nThe payload is that of the all-gather without the device's own part. If you first pass all "
                "chunks round and then multiply, the same permutes move the same bytes and the values are the same, but the "
                "one product waits for every hop. The two programs differ only in what waits for what, and you can read "
                "that from the program. With both directions at most n // 2 hops wait for one another.",
)  # fmt: skip
