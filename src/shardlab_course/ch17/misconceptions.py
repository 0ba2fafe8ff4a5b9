"""Chapter 17, what several exercises use: misconceptions."""

from __future__ import annotations

from shardlab_course.ch17.shared import overflowed
from shardlab_course.shared import rings
from shardlab_course.shared.sent import sends_a_part
from shardlab_judge.question import WrongCost, WrongValues

OPEN = WrongValues(
    "ring-is-open", "The permutation does not go round all devices: some device gets zeros.", 1,
    when=lambda o: rings.only_permutes(o) and rings.is_open(o), breaks=True)  # fmt: skip
NO_NUMBERS = WrongValues(
    "no-numbers", "Some values are not numbers. Perhaps no maximum was subtracted, or a block that a query does not see at "
    "all has the maximum -inf, and -inf - (-inf) is not a number.", 2,
    when=overflowed)  # fmt: skip
UNSCALED = "The scores were not divided by the square root of the number of features."
GATHERED = WrongCost(
    "keys-gathered", "As much as a block or more was gathered on every device. Perhaps keys or values: then each device "
    "needs memory for the whole sequence. Pass one block on and merge what it gives.", 1,
    when=lambda o: sends_a_part(o, "all-gather", number=1))  # fmt: skip
SUMMED = WrongCost(
    "sums-where-blocks-would-do", "An all-reduce carries as much as a block or more. Perhaps it adds up arrays that are "
    "mostly zeros: a block that moves to one device needs a permute.", 1,
    when=lambda o: sends_a_part(o, "all-reduce", number=1))  # fmt: skip
