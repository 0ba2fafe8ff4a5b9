"""Chapter 2, exercise 2.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import math

from shardlab_course.ch02.ex03 import oracle as of
from shardlab_course.ch02.shared import said_other
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

WRONG_CHANGES = (
    WrongValues(
        "slower-start-same-size", "If a hop takes longer to begin, more bytes fit into that time. So the array must be "
        "larger before bytes decide.", 1, like=said_other("latency", "double")),
    WrongValues(
        "faster-link-sooner-busy", "A faster link carries more bytes in the same latency. It takes more bytes to fill it, "
                                   "not fewer.", 1,
        like=said_other("bandwidth", "double")),
    WrongValues(
        "direction-counts", "With both directions there are fewer hops, but each hop carries the same number of bytes. The "
                            "number of hops drops out.", 2,
        like=said_other("directions", "same")),
    WrongValues(
        "hop-for-array", "A hop carries V/n. With twice the devices, it takes twice the array to fill a hop.", 1,
        like=said_other("devices", "double")),
    WrongValues(
        "twice-the-work-later", "An all-reduce makes twice as many hops, so both the waiting and the carrying double.", 2,
        like=said_other("all_reduce", "same")),
)  # fmt: skip

CROSSOVER = (
    WrongValues(
        "hop-for-array", "That fills one hop. A hop carries one shard, and the array has n shards.", 1,
        like=lambda n, bandwidth, latency: bandwidth * latency),
    WrongValues(
        "both-links-counted", "This is twice too large. Perhaps you counted both directions, but a hop uses one.", 2,
        like=lambda n, bandwidth, latency: 2 * n * bandwidth * latency),
    WrongValues(
        "hops-for-shards", "Compare the latencies of all hops with the bytes of all hops. The number of hops is on both "
                           "sides, so it drops out.", 2,
        like=lambda n, bandwidth, latency: (n // 2) * bandwidth * latency),
    WrongValues(
        "hops-for-shards", "Compare the latencies of all hops with the bytes of all hops. The number of hops is on both "
                           "sides, so it drops out.", 2,
        like=lambda n, bandwidth, latency: (n - 1) * bandwidth * latency),
    WrongValues(
        "hops-for-shards", "Compare the latencies of all hops with the bytes of all hops. The number of hops is on both "
                           "sides, so it drops out.", 2,
        like=lambda n, bandwidth, latency: 2 * (n // 2) * bandwidth * latency),
    WrongValues(
        "array-below-a-hop", "A hop carries V / n. So V is n times what fills a hop, not an n-th of it.", 1,
        like=lambda n, bandwidth, latency: bandwidth * latency / n),
)  # fmt: skip


def _rows(columns: int, itemsize: int, n: int, bandwidth: float, latency: float) -> float:
    return n * bandwidth * latency / columns / itemsize


ROWS = (
    WrongValues(
        "rounded-down", "With this many rows a hop still waits. It takes one more row to fill it.", 3,
        like=lambda *given: int(_rows(*given))),
    WrongValues(
        "always-one-more", "If the rows fill a hop exactly, they are enough. Round up, and do not add one.", 3,
        like=lambda *given: int(_rows(*given)) + 1),
    WrongValues(
        "rounded-down", "You rounded to the nearest whole number. If that rounds down, it is one row too few.", 3,
        like=lambda *given: round(_rows(*given))),
    WrongValues(
        "columns-of-a-shard", "`columns` counts the columns of the gathered array. A device has an n-th of each row, and a "
        "hop carries that.", 2, like=lambda columns, itemsize, n, *link: math.ceil(n * _rows(columns, itemsize, n, *link))),
    WrongValues("fraction-of-a-row", "Rows are whole. Return the smallest number of them that is enough.", 3, like=_rows),
    WrongValues(
        "elements-for-bytes", "Links carry bytes, and an element has `itemsize` of them.", 2,
        like=lambda columns, itemsize, *ring: of.crossover_rows(columns, 1, *ring)),
    WrongValues(
        "hop-for-array", "Those rows fill one hop. But a hop carries only the n-th part of each row.", 1,
        like=lambda columns, itemsize, n, *link: of.crossover_rows(columns, itemsize, 1, *link)),
)  # fmt: skip

CHANGES = {"bandwidth": "double", "latency": "double", "devices": "double", "directions": "same", "all_reduce": "same"}

QUESTION = Question(
    "2.3", "When does latency decide?", difficulty=3, minutes=30, optional=True,
    items=(
        ValueItem("changes", {"P": 3}, key=CHANGES, predicted=True, words=("half", "same", "double"),
                  misconceptions=WRONG_CHANGES),
        CallsItem("crossover_bytes", {"C": 3}, oracle=of.crossover_bytes, draw=of.draw_crossover, rtol=1e-6,
                  misconceptions=CROSSOVER,
                  calls=((2, 4.5e10, 1e-6), (16, 4.5e10, 1e-6), (7, 9e10, 2e-6), (8, 9e10, 5e-7))),
        CallsItem("crossover_rows", {"C": 3}, oracle=of.crossover_rows, draw=of.draw_rows, misconceptions=ROWS, calls=(
            (8192, 2, 16, 4.5e10, 1e-6), (8192, 1, 16, 4.5e10, 1e-6), (5120, 2, 8, 9e10, 1e-6), (512, 4, 4, 9e10, 5e-7),
            (1024, 2, 8, 2.0**35, 2.0**-20),
        )),
    ),
    hints=(
        "At the crossover the bytes of a hop take exactly as long as its latency. How many bytes is that for one hop? How "
        "many such shards does the array have?",
        "bandwidth * latency fills one hop. A hop carries V / n. The number of hops is on both sides, so it drops out.",
        "V is n * bandwidth * latency. A row has columns * itemsize bytes. Divide, and round up with math.ceil.",
    ),
    explanation="Bandwidth times latency fills a hop: 45,000 bytes on a v5e link. That is the Scaling Book's 45 kB, and it "
                "is the size of a hop, not of the array. The array has n such shards, so it crosses over at n times as "
                "much: 720 kB on a ring of 16. The number of hops multiplies both the waiting and the carrying. So both "
                "directions, or an all-reduce instead of a gather, change nothing. A faster link with the same latency "
                "moves the crossover up, because it is harder to keep busy. For activations of 8,192 columns in bfloat16 "
                "the crossover is at 44 rows. With fewer users at once, a text generator waits for hops.",
)  # fmt: skip
