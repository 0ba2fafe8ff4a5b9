"""Chapter 8, exercise 8.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch08.ex06 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

STEPS = (
    WrongValues(
        "one-phase-only", "Adding up is half of the work. The sum also has to come back, in the same number of steps.", 1,
        like=of.steps_with(once=True)),
    WrongValues(
        "tree-as-deep-as-wide", "A tree halves the number of holders in each step: it takes log2(n) steps, not n - 1.", 2,
        like=of.steps_with(linear=True)),
    WrongValues(
        "logarithm-rounded-down", "With 5 devices one is left over after two halvings, and needs a third halving: round "
        "up.", 3,
        like=of.steps_with(rounded=True)),
    WrongValues(
        "hops-of-a-closed-ring", "n chunks pass n - 1 links: nobody sends a chunk back to where it began.", 2,
        like=of.steps_with(more=1)),
)  # fmt: skip
SECONDS = (
    WrongValues(
        "ring-sends-everything", "A hop of the ring carries one chunk, V / n bytes.", 1, like=of.seconds_with(whole=True)),
    WrongValues(
        "tree-sends-chunks",
        "A tree adds whole arrays: each of its hops carries V bytes.", 1, like=of.seconds_with(cut=True)),
    WrongValues(
        "latency-and-bytes-added",
        "In the model of chapter 2 a hop takes its latency or the time of its bytes, whichever is longer. It does not "
        "take both.",
        2, like=of.seconds_with(added=True)),
)  # fmt: skip
CROSSOVER = (
    WrongValues(
        "latency-of-one-hop",
        "That is the size of a message that takes as long as its latency. At the crossing the ring still waits for its 2 "
        "(n - 1) latencies, and the tree waits for bytes.", 3, like=lambda n, bandwidth, latency: latency * bandwidth),
    WrongValues(
        "chunk-instead-of-array", "From that size on, bytes decide the ring's time. The ring overtakes the tree at a "
                                  "smaller size.",
        3, like=lambda n, bandwidth, latency: n * latency * bandwidth),
)  # fmt: skip

QUESTION = Question(
    "8.6", "A tree or a ring?", difficulty=3, minutes=30, optional=True,
    items=(
        CallsItem("steps", {"C": 3}, oracle=of.steps, draw=of.draw_devices, calls=((2,), (4,), (8,), (5,), (64,), (100,)),
                  misconceptions=STEPS),
        CallsItem("seconds", {"C": 3}, oracle=of.seconds, draw=of.draw_ring, rtol=1e-6, misconceptions=SECONDS, calls=(
            (4096.0, 8, 4.5e10, 1e-6), (2.0**20, 8, 4.5e10, 1e-6), (2.0**26, 64, 9e10, 5e-7), (100.0, 5, 4.5e11, 5e-6),
        )),
        CallsItem("crossover", {"C": 3}, oracle=of.crossover, draw=of.draw_link, rtol=1e-6,
                  misconceptions=CROSSOVER, calls=(
            (8, 4.5e10, 1e-6), (64, 4.5e10, 1e-6), (5, 9e10, 5e-7), (4, 4.5e11, 5e-6),
        )),
    ),
    hints=(
        "First count the hops that wait for one another, then ask what one hop carries. In each hop the tree sends the "
        "whole array, the ring a chunk.",
        "Ring: 2 (n - 1) hops of V / n bytes. Tree: 2 ceil(log2 n) hops of V bytes. Each takes max(latency, bytes / "
        "bandwidth).",
        "At the crossing latency still decides the ring's time, and bytes decide the tree's: (n - 1) latency = ceil(log2 "
        "n) V / bandwidth. Solve for V.",
    ),
    explanation="A tree is shallow and heavy, a ring deep and light. For small arrays only the number of dependent hops "
                "counts, and from n = 4 on 2 log2(n) beats 2 (n - 1). For large arrays only bytes count, and V / n beats "
                "V. The crossing lies at (n - 1) / ceil(log2(n)) times latency times bandwidth: for 8 devices about 105 "
                "kB at 1 microsecond and 45 GB/s.\n\nSo libraries keep both and choose by size. The tree here may use any "
                "pair of devices, as a switch allows. On a ring of chips its long hops would cross several links. "
                "Recursive halving and doubling has the depth of the tree and the bytes of the ring, if n is a power of "
                "two and all devices can talk to each other.",
)  # fmt: skip
