"""Chapter 12, exercise 12.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch12.misconceptions import INDICES, LATE, MORE, NOTHING_BESIDE, ONE_MORE, WAYS
from shardlab_course.ch12.shared import HIDDEN, LINE, ROUNDING, WIDE, drawing, gather_case, product
from shardlab_course.shared import rings
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

LINES = (
    WrongValues(
        "loop-count-1", "A line in a loop's body runs once each round: seven hops, seven times its bytes.", 1,
        like=lambda said: said["bytes"] in (1 / 7, 0.14, 0.143, 1 / 8, 0.125)),
    WrongValues(
        "python-loops-stay", "A Python loop is over when the program is traced: each round leaves a line of its own.", 1,
        like=lambda said: said["unrolled"] == 1),
    WrongValues(
        "loops-are-unrolled", "XLA for CPU keeps the loop: its body is one computation, printed once.", 1,
        like=lambda said: said["loop"] == said["unrolled"]),
    WrongValues(
        "eight-hops", "n chunks need n products and n - 1 hops.",
        2, like=lambda said: 8 in (said["unrolled"], said["loop"])),
    WrongValues(
        "other-bytes", "Both programs send a chunk seven times: one has seven lines, the other runs one line seven times.",
        1, like=lambda said: said["bytes"] != 1),
)  # fmt: skip
LOOPED = (
    *WAYS, *MORE, *INDICES,
    WrongProgram(
        "no-loop-left", "The compiled program has more than one permute. Let fori_loop or scan make the rounds, with one "
        "hop in each, and unroll none of them.", 1, when=lambda o: len(o.collectives) > 1, barred=True),
    WrongCost(
        "hop-under-a-condition", "There is a lax.cond, and it saves no hop: a hop inside a lax.cond counts in every round. "
        "End the loop a round earlier, and make the last product after it.",
        2, when=lambda o: " conditional(" in o.hlo and rings.hops(o) >= rings.devices(o)),
    ONE_MORE, NOTHING_BESIDE, LATE,
)  # fmt: skip

MECHANISM = why(
    "What decides the number of lines?",
    0.75,
    a=Believed(
        "How often something is sent: each hop is a line.",
        "a-line-a-hop",
        "The ledger shows the same number of bytes for the loop, from one line. So the loop sends as often.",
    ),
    b="What JAX traced: a Python loop leaves the operations of every round, a `fori_loop` leaves its body once.",
    c=Believed(
        "XLA for CPU: it unrolls loops whose length it knows.",
        "xla-writes-out",
        "It knew the length of the `fori_loop`, and the ledger shows one line that runs several times. Python unrolled the "
        "other loop.",
    ),
)

QUESTION = Question(
    "12.3", "Seven lines or one", difficulty=3, minutes=35, optional=True,
    items=(
        ValueItem("lines", {"P": 1.25}, predicted=True, key={"unrolled": 7, "loop": 1, "bytes": 1}, rtol=1e-6,
                  misconceptions=LINES),
        MECHANISM,
        ProgramItem("looped", {"V": 2.5, "S": 1.25, "H": 4.25}, oracle=product, manual=True, checks=HIDDEN,
                    misconceptions=LOOPED, rtol=1e-4, atol=1e-4,
                    tolerance=ROUNDING, draw=drawing(gather_case, False, True, True),
                    cases=(gather_case(LINE, 6, 32, 40), gather_case(WIDE, 10, 24, 20))),
    ),
    hints=(
        "What does a round need from the one before? That is the loop's carry. What should the last round not do?",
        "Carry the sum and the chunk. The loop makes n - 1 rounds of a product and a hop; one more product comes after it.",
        "Start from (zeros, x), with zeros pcast to varying. Round i = 0 .. n - 2 permutes x, adds the product of the "
        "chunk that it still has, and carries both on. The last product comes after the loop.",
    ),
    explanation="The text has a loop's body once, and the machine runs it in every round; known_trip_count in the loop's "
                "own line says how many there are. So one permute in a loop and seven permutes in the text have the same "
                "payload. A common mistake is fori_loop(0, n) with a hop in every round: that makes n hops instead of n - "
                "1, on eight devices a seventh more bytes.\n\nIf the loop is unrolled, the compiler sees all rounds and can "
                "order them freely, but the program grows with n. A loop stays small. If the compiler plans its body "
                "separately from the rest, a round's hop can only hide behind that round's product. Then it may matter "
                "whether the product uses the chunk that the device already has or the one that the hop brings: in the "
                "second case nothing is left to run beside the hop.",
)  # fmt: skip
