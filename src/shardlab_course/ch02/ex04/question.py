"""Chapter 2, exercise 2.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch02.ex04 import oracle as of
from shardlab_course.ch02.shared import gather_steps
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongValues

SAME = (
    "Everyone talks to everyone, but every block has one reader. It goes only as far as that device, not all the way round."
)
SWITCH = (
    "A block crosses every link between its two devices, and counts on each. Your number would be right on a switch, where "
    "a block crosses once."
)
UPSIDE = WrongValues(
    "asked-the-other-way", "An all-to-all is the cheaper of the two. Divide its bytes by those of an all-gather.", 1,
    like=lambda said: said > 1)  # fmt: skip
ONE_WAY = (
    WrongValues("same-as-gather", SAME, 1, like=1),
    WrongValues("distance-forgotten", SWITCH, 2, like=1 / 16),
    UPSIDE,
    WrongValues(
        "quarter-everywhere", "A quarter needs both directions. One way round, a block goes half the ring on average.", 1,
        like=0.25),
)  # fmt: skip
BOTH_WAYS = (
    WrongValues("same-as-gather", SAME, 1, like=1),
    WrongValues("distance-forgotten", SWITCH, 2, like=1 / 16),
    UPSIDE,
    WrongValues(
        "second-direction-halves-both", "The second direction helps an all-to-all twice. Each block also takes the shorter "
        "way, which is about half as long.", 2, like=0.5),
    WrongValues(
        "fraction-of-the-array", "An eighth is a fraction of the whole array. An all-gather both ways moves half of the "
        "array over a link.", 1, like=0.125),
)  # fmt: skip

EXCHANGE = (
    WrongValues("same-as-gather", SAME, 1, like=lambda v, n, both: v / n * gather_steps(n, both)),
    WrongValues("distance-forgotten", SWITCH, 2, like=lambda v, n, both: v * (n - 1) / n**2),
    WrongValues(
        "distance-forgotten", "A block crosses every link between its two devices, and counts on each. Half of the blocks "
        "go each way.", 2, like=lambda v, n, both: v * (n - 1) / n**2 / (2 if both else 1)),
    WrongValues(
        "one-way-only", "With both directions a block takes the shorter way round.", 1,
        like=lambda v, n, both: v * (n - 1) / n / 2),
    WrongValues(
        "second-direction-halves", "Half of the blocks go each way, and their paths are also shorter. That makes about a "
        "quarter, not a half.", 2, like=lambda v, n, both: v * (n - 1) / n / (4 if both else 2)),
    WrongValues(
        "directions-added", "With both directions this is twice too large. Perhaps it counts the blocks of both, but a link "
        "in one direction carries half of them.", 3,
        like=lambda v, n, both: v * (n**2 // 4) / n**2 if both else v * (n - 1) / n / 2),
    WrongValues(
        "limit-of-large-rings", "Large rings come close to V/2. One way, the distances add up to n(n - 1)/2, not n²/2.", 3,
        like=lambda v, n, both: v / 8 if both else v / 2),
    WrongValues(
        "limit-of-large-rings", "Large rings come close to V/2. One way, the distances add up to n(n - 1)/2, not n²/2.", 3,
        like=lambda v, n, both: of.all_to_all_link_bytes(v, n, True) if both else v / 2),
    WrongValues(
        "limit-of-large-rings", "V/8 is right for even rings, and large odd rings come close to it. Count the hops for n = "
        "3.", 3, like=lambda v, n, both: v / 8 if both else v * (n - 1) / n / 2),
    WrongValues(
        "tie-goes-one-way", "On an even ring the farthest block is equally far both ways. Half of it goes each way.", 3,
        like=lambda v, n, both: v * (n // 2) * (n // 2 + 1) / 2 / n**2 if both else v * (n - 1) / n / 2),
    WrongValues(
        "shard-for-array", "V is the whole array. A device's shard is V/n, and a block is V/n².", 1,
        like=lambda v, n, both: n * of.all_to_all_link_bytes(v, n, both)),
)  # fmt: skip

FACTOR = (
    WrongValues("same-as-gather", SAME, 1, like=lambda n, both: 1.0),
    WrongValues("distance-forgotten", SWITCH, 2, like=lambda n, both: 1 / n),
    WrongValues(
        "quarter-everywhere", "A quarter is right only for even rings. Count the hops for n = 3.", 3,
        like=lambda n, both: 0.25 if both else 0.5),
    WrongValues(
        "quarter-everywhere", "A quarter is right only for even rings with both directions. Count the hops of one "
        "direction.", 1,
        like=lambda n, both: 0.25),
    WrongValues(
        "second-direction-halves-both", "The second direction helps an all-to-all twice. Each block also takes the shorter "
        "way, which is about half as long.", 2, like=lambda n, both: 0.5),
    WrongValues(
        "fraction-of-the-array", "That is a fraction of V. Divide by the bytes that an all-gather moves over a link, which "
        "are fewer than V.", 1, like=lambda n, both: of.all_to_all_link_bytes(1.0, n, both)),
    WrongValues(
        "one-way-gather", "With both directions the all-gather also has fewer hops: n // 2 instead of n - 1.", 3,
        like=lambda n, both: of.all_to_all_link_bytes(1.0, n, both) * n / (n - 1)),
    WrongValues(
        "directions-added", "With both directions this is twice too large. Perhaps it counts the blocks of both, but a link "
        "in one direction carries half of them.", 3,
        like=lambda n, both: of.all_to_all_factor(n, both) * (2 if both else 1)),
    WrongValues(
        "asked-the-other-way", "An all-to-all is the cheaper of the two. Divide its bytes by those of an all-gather.", 1,
        like=lambda n, both: 1 / of.all_to_all_factor(n, both)),
)  # fmt: skip

MECHANISM = why(
    "What sets the two apart, or makes them alike?",
    1,
    a="How many readers a block has, and how far it goes until the last of them has it.",
    b=Believed(
        "Who sends to whom: in both, everyone sends to everyone.", "everyone-alike",
        "The printed factors are below 1. A block of an all-to-all has one reader, and a shard of an all-gather has n - 1.",
    ),
    c=Believed(
        "How large the messages are: a block is 1/n of a shard and goes straight to its reader.",
        "straight-to-its-reader",
        "The factors printed for larger rings are above 1/n. A block crosses every link on the way to its reader, as the "
        "film shows.",
    ),
)  # fmt: skip

EXCHANGE_CALLS: tuple[tuple[Any, ...], ...] = (
    (4096, 4, False), (4096, 4, True), (4096, 16, False), (4096, 16, True), (900, 3, True), (900, 3, False),
    (4900, 7, True), (3600, 6, True), (1024, 2, True), (1024, 2, False),
)  # fmt: skip

QUESTION = Question(
    "2.4", "Everyone talks to everyone", difficulty=4, minutes=40,
    items=(
        ValueItem("one_way", {"P": 1.5}, key=0.5, predicted=True, rtol=1e-3, misconceptions=ONE_WAY),
        ValueItem("both_ways", {"P": 1}, key=0.25, predicted=True, rtol=1e-3, misconceptions=BOTH_WAYS),
        MECHANISM,
        CallsItem("all_to_all_link_bytes", {"C": 5.5}, oracle=of.all_to_all_link_bytes, calls=EXCHANGE_CALLS,
                  draw=of.draw_exchange, rtol=1e-6, misconceptions=EXCHANGE),
        CallsItem("all_to_all_factor", {"C": 3}, oracle=of.all_to_all_factor, draw=of.draw_ring, rtol=1e-6,
                  misconceptions=FACTOR, calls=(
                      (2, False), (2, True), (3, True), (4, True), (7, True), (8, False), (16, True), (17, True),
                  )),
    ),
    hints=(
        "Follow the blocks of device 0. How far does each one go? How far does its shard go in an all-gather?",
        "The distances are 1 to n - 1 one way, and at most n // 2 both ways. A block is V / n². By symmetry a link carries "
        "as many block-hops as the blocks of one device make.",
        "One way the distances add up to n(n-1)/2. Both ways they add up to n² // 4, which the two directions share. For "
        "the factor, divide by the all-gather's hops, (n-1) or n // 2, times V / n.",
    ),
    explanation="A shard of an all-gather has readers everywhere, so it goes all the way round. A block of an all-to-all "
                "has one reader and goes only that far. One way the distances are 1, 2, ... n-1, which is half the ring on "
                "average. That makes the factor 1/2, for every n. Both ways the distances are at most n/2, and the two "
                "directions share the load: the gather gains a factor of about 2 and the all-to-all one of about 4. So the "
                "factor is 1/4 for even rings and (n+1)/(4n) for odd ones, such as 1/3 for n = 3.\n\nOn a switch no device "
                "forwards another's data: every block takes one hop, and the factor is 1/n (Scaling Book, part 12).",
)  # fmt: skip
