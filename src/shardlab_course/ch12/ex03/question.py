"""Chapter 12, exercise 12.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch12.misconceptions import INDICES, LATE, MORE, NOTHING_BESIDE, ONE_MORE, WAYS
from shardlab_course.ch12.shared import HIDDEN, LINE, RING, ROUNDING, WIDE, drawing, gather_case, product
from shardlab_course.shared import rings
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

LINES = (
    WrongValues(
        "loop-count-1", "A line in a loop's body runs once a round: seven hops, seven times its bytes.", 1,
        like=lambda said: said["bytes"] in (1 / 7, 0.14, 0.143, 1 / 8, 0.125)),
    WrongValues(
        "python-loops-stay", "Python's loop is over when the program is traced: each round leaves a line of its own.", 1,
        like=lambda said: said["unrolled"] == 1),
    WrongValues(
        "loops-are-unrolled", "XLA for CPU keeps the loop: its body is one computation, printed once.", 1,
        like=lambda said: said["loop"] == said["unrolled"]),
    WrongValues(
        "eight-hops", "n chunks are n products and n - 1 hops.", 2, like=lambda said: 8 in (said["unrolled"], said["loop"])),
    WrongValues(
        "other-bytes", "Both programs send a chunk seven times, from seven lines or seven times from one.", 1,
        like=lambda said: said["bytes"] != 1),
)  # fmt: skip
LOOPED = (
    *WAYS, *MORE, *INDICES,
    WrongProgram(
        "no-loop-left", "More than one permute stands in the compiled program. Let fori_loop or scan make the rounds, one "
        "hop in each, and leave none of them unrolled.", 1, when=lambda o: len(o.collectives) > 1, barred=True),
    WrongCost(
        "hop-under-a-condition", "There is a lax.cond, and it spares no hop: inside of one a hop counts in every round. "
        "End the loop a round earlier, and make the last product after "
        "it.", 2, when=lambda o: " conditional(" in o.hlo and rings.hops(o) >= rings.devices(o)),
    ONE_MORE, NOTHING_BESIDE, LATE,
)  # fmt: skip

MECHANISM = why(
    "What makes the number of lines?",
    a=Believed(
        "How often something is sent: a line is a hop.",
        "a-line-a-hop",
        "The ledger shows as many bytes for the loop, from one line: it sends as often.",
    ),
    b="What JAX traced: each round of a Python loop has left its operations, a `fori_loop` leaves its body once.",
    c=Believed(
        "XLA for CPU: it writes out loops whose length it knows.",
        "xla-writes-out",
        "It knew the length of the `fori_loop`, and the ledger shows one line that runs several times. "
        "Python wrote out the other loop.",
    ),
)

QUESTION = Question(
    "12.3", "Seven lines or one", difficulty=3, minutes=35, optional=True,
    items=(
        ValueItem("lines", {"P": 0.5}, predicted=True, key={"unrolled": 7, "loop": 1, "bytes": 1}, rtol=1e-6,
                  misconceptions=LINES),
        MECHANISM,
        ProgramItem("looped", RING, oracle=product, manual=True, checks=HIDDEN,
                    misconceptions=LOOPED, rtol=1e-4, atol=1e-4,
                    tolerance=ROUNDING, draw=drawing(gather_case, False, True, True),
                    cases=(gather_case(LINE, 6, 32, 40), gather_case(WIDE, 10, 24, 20))),
    ),
    hints=(
        "What does a round need from the one before? That is the loop's carry. What does it do last that the last round "
        "should not?",
        "Carry the sum and the chunk. n - 1 rounds of product and hop, and one product after the loop.",
        "Start from (zeros, x), zeros pcast with to='varying'. Round i = 0 .. n - 2 permutes x, adds the product of the "
        "chunk that it still has, and carries both on; the last product comes after the loop.",
    ),
    explanation="A text has a loop's body once, and the machine runs it as often as its rounds say: known_trip_count "
                "stands in the loop's own line. So one permute in the text and seven are the same payload. fori_loop(0, n) "
                "with a hop in every round is the usual slip: n hops instead of n - 1, on eight devices a seventh more "
                "bytes.\n\nUnrolled, the compiler sees all rounds and can order them freely, and the program grows with n; "
                "looped, it stays small, and where the compiler plans the body by itself a round's hop can only hide "
                "behind that round's product. Where a hop stands in the body, before or after the product, may then "
                "matter: if the product needs what has just arrived, nothing is left to run beside it.",
)  # fmt: skip
