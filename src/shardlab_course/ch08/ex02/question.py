"""Chapter 8, exercise 8.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch08.ex02 import oracle as of
from shardlab_course.ch08.shared import (
    CARRY,
    ENDS,
    KEPT,
    LEAPS,
    OPEN,
    READY_MADE,
    ROTATION,
    ROWS,
    TERMS,
    program,
    summed,
    terms,
)
from shardlab_course.shared.manual import LEFT
from shardlab_judge.question import Question, WrongProgram, WrongValues

PARTS = WrongProgram(
    "promise-not-proved",
    "out_specs=P() says that all devices end with the same array. Here each should end with its own part of the sum: "
    "P('x').", 2,
    error="can't be statically inferred")  # fmt: skip

SUMMING = (
    WrongValues(
        "same-chunk-everywhere",
        "In each round all devices add the chunk with the same number, so different chunks meet in one sum. Which chunk is "
        "due depends on axis_index.", 2, when=of.same_chunk_everywhere),
    WrongValues(
        "term-counted-twice",
        "Every sum has one device's term twice: n terms need n - 1 additions.", 2, when=lambda o: of.miscounted(o, 1)),
    WrongValues(
        "term-left-out",
        "Every sum lacks one device's term. n - 1 hops bring n - 1 more terms to the one that a sum begins with. Let the "
        "sum begin with a chunk, not with zeros, and add one after the last hop too.",
        2, when=lambda o: of.miscounted(o, -1)),
)  # fmt: skip

SCATTER = (LEFT, READY_MADE, LEAPS, PARTS, CARRY, KEPT, ROTATION, OPEN, ENDS, *SUMMING)

QUESTION = Question(
    "8.2", "A ring reduce-scatter", difficulty=3, minutes=40,
    items=(
        program("ring_reduce_scatter", {"V": 4, "S": 2, "H": 6}, summed, TERMS, ROWS, ROWS, terms, SCATTER),
    ),
    hints=(
        "Now sums travel, and terms stay where they are. Follow the sum of one chunk backwards from the device where it "
        "has to end.",
        "The sum of chunk c ends on device c, so it begins on device c + 1 and visits every device. In round i, device d "
        "adds its own chunk number (d - 1 - i) % n.",
        "Start with your chunk (d - 1) % n. Then n - 1 times: ppermute the sum to the next device and add your own chunk, "
        "one number lower each time. The last one is chunk d.",
    ),
    explanation="A reduce-scatter is an all-gather run backwards: where a block was copied, a term is added. The sum of "
                "chunk c starts one device past its goal, goes all the way round and collects a term at each stop. So n "
                "sums are under way at once, and no two devices work on the same sum at the same time. Each hop carries "
                "one chunk, V / n bytes, and n - 1 hops are enough. If whole terms travel instead and are added as they "
                "pass, the sum is the same up to rounding, for n times the bytes.\n\nEach chunk's terms are added in an "
                "order of their own, and the order changes the last digits. That is why the tolerance is not zero.",
)  # fmt: skip
