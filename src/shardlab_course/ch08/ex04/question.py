"""Chapter 8, exercise 8.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch08.ex04 import oracle as of
from shardlab_course.ch08.shared import BLOCKS, FIVE, GATHER, GATHERING, ROWS, TOO_MANY, WHOLE, program, rows, unchanged
from shardlab_course.shared import rings
from shardlab_judge.question import Question, WrongCost

BOTH_WAYS = (
    *GATHERING, *GATHER[len(GATHERING) : len(GATHERING) + 4],
    WrongCost(
        "still-one-way",
        "All blocks still travel one way round. That is n - 1 hops, each of which waits for the one before.",
        1, when=lambda o: o.depth == rings.hops(o) == rings.devices(o) - 1 and rings.ways(o) == 1),
    WrongCost(
        "one-way-after-the-other",
        "There are hops in both directions, but each waits for the one before. Let both ways begin with the device's own "
        "block, and forward what just came.", 1,
        when=lambda o: o.depth == rings.hops(o) == rings.devices(o) - 1 and rings.ways(o) == 2),
    WrongCost(
        "halves-both-ways",
        "Half a block goes each way, but all the way round. Each hop carries half as much, but there are just as many of "
        "them in a row. Whole blocks need to go only half round.",
        2, when=lambda o: of.both_all_round(o) and rings.largest(o) < o.inputs[0].nbytes // rings.devices(o)),
    WrongCost(
        "blocks-arrive-twice",
        "Two rings of whole blocks go all the way round, so each block arrives twice. Half round, both ways, is enough.",
        2, when=of.both_all_round),
    WrongCost(
        "antipode-sent-twice", "With an even n the opposite device's block comes from both sides. It is needed once.",
        3, when=lambda o: rings.whole(o, o.inputs[0]) and rings.hops(o) == rings.devices(o) and rings.needless(o)
        and rings.devices(o) % 2 == 0 and o.depth == rings.devices(o) // 2),
    TOO_MANY,
)  # fmt: skip

QUESTION = Question(
    "8.4", "Both ways round", difficulty=4, minutes=45,
    items=(
        program("gather_both_ways", {"V": 4, "S": 2, "H": 8}, unchanged, (*BLOCKS, (FIVE, (20, 7))), ROWS, WHOLE,
                rows, BOTH_WAYS, deepest=lambda case: dict(case.axes)["x"] // 2),
    ),
    hints=(
        "Two blocks can travel at once, one each way, without waiting for each other. How far does a block have to go if "
        "it may choose its side?",
        "One stream needs n // 2 hops, the other (n - 1) // 2. Together that is n - 1, so no more bytes are sent than "
        "before.",
        "For i up to n // 2, permute right by +1 and place at d - i. For i up to (n - 1) // 2, permute left by -1 and "
        "place at d + i. All modulo n.",
    ),
    explanation="Bytes and steps are two different numbers. Both programs send n - 1 blocks per device. In the first each "
                "hop waits for the one before. In the second two chains run beside each other, and the longer one has n // "
                "2 hops. Program.depth reads that from the compiled program: it follows each value from the inputs on and "
                "counts the collectives that it waits for.\n\nOn links that carry both directions at once, half the steps "
                "take about half the time, whether latency or bandwidth is the limit. Half blocks that go all the way "
                "round, both ways, use both directions too, but they save nothing where latency is the limit: n - 1 hops in "
                "a row remain. With an even n the opposite device's block must not come twice.",
)  # fmt: skip
