"""Chapter 2, exercise 2.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from shardlab_course.ch02.ex02 import oracle as of
from shardlab_course.ch02.shared import Formula, gather_steps, time_all_gather
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues


def gather(*, hops: Callable[[int, bool], float] | None = None, waits: Callable[[int, bool], float] | None = None,
           hop_bytes: Callable[[float, int, bool], float] | None = None,
           join: Callable[[float, float], float] = max) -> Formula:  # fmt: skip
    """The time of an all-gather with one part of it wrong: hops that carry bytes, hops that wait, bytes of one, joining."""
    hops = hops or gather_steps

    def time(nbytes: float, n: int, bandwidth: float, latency: float, both: bool) -> float:
        carried = hop_bytes(nbytes, n, both) if hop_bytes else nbytes / n
        return join((waits or hops)(n, both) * latency, hops(n, both) * carried / bandwidth)

    return time


TIME = (
    WrongValues(
        "time-grows-with-n", "A hop carries one shard, V/n, not all of V. More devices mean more hops, and each carries "
        "less.", 1, like=gather(hop_bytes=lambda v, n, both: v)),
    WrongValues(
        "time-grows-with-n", "A hop carries one shard, V/n, not all of V. More devices mean more hops, and each carries "
        "less.", 1, like=gather(hops=lambda n, both: n // 2 if both else n, hop_bytes=lambda v, n, both: v)),
    WrongValues(
        "own-shard-sent-too", "A device has its own shard already. The last of n hops would only return it to where it "
                              "began.", 1,
        like=gather(hops=lambda n, both: n / 2 if both else n)),
    WrongValues(
        "own-shard-sent-too", "A device has its own shard already. The last of n hops would only return it to where it "
                              "began.", 1,
        like=gather(hops=lambda n, both: n / 2 if both else n, waits=gather_steps)),
    WrongValues(
        "own-shard-sent-too", "A device has its own shard already. One way, n - 1 hops bring all others.", 1,
        like=gather(hops=lambda n, both: n // 2 if both else n)),
    WrongValues(
        "halves-exactly", "On an even ring the last shard is equally far both ways and takes a hop of its own. Whole "
        "shards take n // 2 hops, not (n - 1) / 2.", 2, like=gather(hops=lambda n, both: (n - 1) / 2 if both else n - 1)),
    WrongValues(
        "half-a-hop", "There is no half hop. An odd ring is done after (n - 1) / 2 hops, and an even one after n / 2.", 2,
        like=gather(hops=lambda n, both: n / 2 if both else n - 1)),
    WrongValues(
        "opposite-forgotten", "On an even ring one device is opposite, n / 2 hops away. (n - 1) / 2, rounded down, does "
        "not reach it.", 2, like=gather(hops=lambda n, both: (n - 1) // 2 if both else n - 1)),
    WrongValues(
        "hop-too-many", "On an odd ring the two directions together reach every device in (n - 1) / 2 hops.", 2,
        like=gather(hops=lambda n, both: (n + 1) // 2 if both else n - 1)),
    WrongValues(
        "doubles-like-a-tree", "On a ring a device talks only to its two neighbours. After log2(n) hops a shard has "
        "travelled past only log2(n) devices. On a ring of 16 that does not reach every device.", 1,
        like=gather(hops=lambda n, both: math.ceil(math.log2(n)))),
    WrongValues(
        "waits-once", "Every hop waits for its latency, because a shard cannot be passed on before it has arrived.", 3,
        like=gather(waits=lambda n, both: float(n > 1))),
    WrongValues(
        "adds-latency", "This is the sum of the two times. Here the larger counts, as in part 3 of the Scaling Book.", 3,
        like=gather(join=lambda wait, carry: wait + carry)),
    WrongValues(
        "no-latency", "The time of small arrays does not go to zero: each hop takes at least its latency.", 1,
        like=gather(join=lambda wait, carry: carry)),
    WrongValues(
        "waits-the-long-way", "With both directions there are also fewer hops to wait for.", 2,
        like=gather(waits=lambda n, both: n - 1)),
    WrongValues(
        "second-direction-as-bandwidth", "A second direction makes no hop faster. It makes fewer hops, n // 2, so there is "
        "also less waiting.", 2,
        like=gather(hops=lambda n, both: n - 1, hop_bytes=lambda v, n, both: v / n / (2 if both else 1))),
    WrongValues(
        "one-way-only", "`bidirectional` changes nothing here. With both directions about half the hops are enough.", 1,
        like=gather(hops=lambda n, both: n - 1)),
    WrongValues(
        "directions-counted-twice", "Fewer hops are the whole gain. `bandwidth` is that of one link in one direction, and "
        "a hop is no faster.", 2,
        like=gather(hop_bytes=lambda v, n, both: v / n / (2 if both else 1))),
)  # fmt: skip

GATHER_CALLS: tuple[tuple[Any, ...], ...] = (
    (33554432, 4, 4.5e10, 1e-6, False), (33554432, 4, 4.5e10, 1e-6, True), (33554432, 5, 4.5e10, 1e-6, True),
    (33554432, 16, 4.5e10, 1e-6, False), (33554432, 16, 4.5e10, 1e-6, True), (8192, 16, 9e10, 2e-6, False),
    (8192, 16, 9e10, 2e-6, True), (256, 4, 4.5e10, 1e-6, True), (1e9, 2, 9e10, 1e-6, True), (100000, 7, 4.5e10, 1e-6, True),
    (1e6, 1, 4.5e10, 1e-6, False), (1000, 7, 1e5, 1e-6, False), (1000, 7, 1e5, 1e-6, True),
)  # fmt: skip

QUESTION = Question(
    "2.2", "How long does an all-gather take?", difficulty=2, minutes=25,
    items=(
        CallsItem("time_all_gather", {"C": 7}, oracle=time_all_gather, calls=GATHER_CALLS, draw=of.draw_gather, rtol=1e-6,
                  misconceptions=TIME),
    ),
    hints=(
        "How many hops does the last shard take to reach the last device? How many bytes does a link carry in each hop?",
        "One way it takes n - 1 hops, and both ways n // 2. In both cases each hop carries one shard, V / n bytes, over a "
        "link in one direction.",
        "All hops take the same time, the larger of the latency and V / n / bandwidth. Multiply it by the number of hops. "
        "One device has no hops.",
    ),
    explanation="A hop carries one shard, V/n bytes, and takes at least its latency. One way round there are n - 1 hops. "
                "That makes V(n-1)/n bytes over every link, which is below V however many devices there are. Both ways "
                "there are n // 2 hops of the same size: half as many for odd n, 2 instead of 3 for n = 4, and 1 in both "
                "cases for n = 2. (Cutting the last shard of an even ring in two would save half a hop. The Scaling Book "
                "and this course do not count that.)\n\nA small array is different: its hops wait for their latency, so "
                "its time is the number of hops times the latency, and grows with n.",
)  # fmt: skip
