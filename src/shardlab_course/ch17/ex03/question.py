"""Chapter 17, exercise 17.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch17.ex03 import oracle as of
from shardlab_course.ch17.misconceptions import GATHERED, OPEN
from shardlab_course.ch17.shared import LINE, ROUNDING, WIDE, attention_case, draw_attention, of_devices
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

ZIGZAG = (
    WrongValues(
        "dealt-round-robin", "Each device has one chunk of the first half and one of the second, but the last device has "
        "the later one of both. Deal the second half out backwards.", 1, like=of.round_robin),
    WrongValues(
        "single-positions", "Single positions were dealt out. Cut the sequence into 2n chunks that stay together.", 1,
        like=of.one_by_one),
    WrongValues(
        "chunk-backwards", "The second chunk of each device is written backwards. Only the order of the chunks turns "
        "round.", 2,
        like=of.one_after_one),
    WrongValues(
        "late-chunk-first", "Each device has the right two chunks, and the later one is first. Device d has chunk d, then "
        "chunk 2n - 1 - d.", 1, like=of.late_first),
    WrongValues(
        "dealt-from-the-last", "The chunks were dealt out from the last device to the first. Device 0 has the first and the "
        "last chunk.", 1, like=of.from_the_last),
    WrongValues(
        "chunk-numbers", "These are the numbers of the chunks. Return the positions in them.", 1, like=of.chunks),
    WrongValues(
        "natural-order", "This is the natural order: device 0 has the beginning and the last device the end.", 1,
        like=lambda S, n: list(range(S))),
)  # fmt: skip
WORK = (
    WrongValues(
        "own-key-left-out", "A query also sees the key at its own position.", 1, like=of.before_alone),
    WrongValues(
        "every-key-counted", "Every key was counted. A query at position i sees only the keys at positions 0 to i.", 1,
        like=of.of_all_keys),
    WrongValues(
        "place-for-position", "The place of a row was taken for its position. The position of the row at place j is "
        "order[j].",
        1, like=of.by_place),
    WrongValues(
        "own-keys-only", "Only keys on the same device were counted. A query sees earlier keys on all devices.", 1,
        like=of.own_keys),
)  # fmt: skip
BALANCED = (
    LEFT, OPEN,
    WrongValues(
        "rows-taken-for-positions", "The mask is that of a sequence in its natural order. Here device d has chunks d and "
        "2n - 1 - d.", 1, when=of_devices(of.in_natural_order)),
    WrongValues(
        "mirrored-order", "The mask is that of a mirrored order: from the last device to the first, or with the late chunk "
        "first. Device d has chunk d, then chunk 2n - 1 - d.", 1, when=of.mirrored),
    WrongValues(
        "output-in-order", "The values are right, and were put into their natural order. Leave them where their queries "
        "are.",
        1, when=of_devices(of.put_in_order)),
    WrongValues(
        "late-keys-lost", "Keys of the second half are used on their own device only. The late chunk of a device comes "
        "after the late chunks of all later devices.", 2, when=of_devices(of.late_keys_lost)),
    WrongValues(
        "early-keys-lost", "The late queries of a device do not see the early chunks of the others. Every late query sees "
        "all of the first half.", 2, when=of_devices(of.early_keys_lost)),
    GATHERED,
    WrongCost(
        "branch-skips", "A branch (lax.cond) is counted as its most expensive side, because the others wait for the device "
        "that takes it. Skipping work on some devices saves nothing. Choose the factors with jnp.where.", 3,
        when=of.branches, letters="F"),
    WrongCost(
        "all-scores-multiplied", "As many products were made as for all scores. Perhaps every chunk of scores was made, "
        "and about half of them were masked afterwards: choose the chunks before you multiply.", 2, when=of.all_multiplied),
    WrongProgram(
        "left-to-a-branch", "The program's FLOPs cannot be counted. Perhaps how often a loop runs depends on the device, "
        "and then a device may still wait for the slowest. Choose the factors with jnp.where.", 3,
        when=lambda o: o.flops is None, barred=True),
)  # fmt: skip

QUESTION = Question(
    "17.3", "The same work for everyone", difficulty=4, minutes=60, known_as="zigzag ring attention",
    items=(
        CallsItem("zigzag", {"C": 3}, oracle=of.zigzag, misconceptions=ZIGZAG, draw=of.draw_sizes,
                  calls=((16, 4), (8, 4), (24, 2), (30, 5))),
        CallsItem("work", {"C": 3}, oracle=of.work, misconceptions=WORK, draw=of.draw_order,
                  calls=(([0, 1, 2, 3, 4, 5, 6, 7], 4), ([0, 7, 1, 6, 2, 5, 3, 4], 4), ([3, 0, 2, 1], 2))),
        ProgramItem("balanced", {"V": 5, "S": 1, "H": 2, "F": 5}, manual=True, rights=of.balanced,
                    misconceptions=BALANCED, rtol=1e-3, atol=1e-4, tolerance=ROUNDING, draw=draw_attention, spare=0.3,
                    cases=(attention_case(LINE, 256, 16), attention_case(WIDE, 192, 16))),
    ),
    hints=(
        "Cut the sequence into 2n chunks and write down which chunk sees which. Which pairs of chunks give each device the "
        "same number of scores?",
        "A late query sees every early key. Beyond that, one more chunk of scores is needed in each round: early with early "
        "if the block comes from an earlier device, else late with late.",
        "With hops to d + 1: pick = jnp.where(i <= d, early, late), and the same for k and v: one part a round. "
        "Merge it with both "
        "states, but with m = -1e30 where it does not belong.",
    ),
    explanation="Position i sees i + 1 keys, so in natural order the last device needs about 2n - 1 times as many scores as "
                "the first. Chunk d and chunk 2n - 1 - d together need the same number for every d: the more one needs, the "
                "fewer the other needs.\n\nThe program profits twice. All devices run the same program, and a mask does not "
                "save a product. In natural order some device needs its whole block of scores in each round after the "
                "first, so every device computes one. In zigzag order each such round needs exactly two of four chunks of "
                "scores on every device. Which two depends on where the block comes from, and jnp.where chooses the factors "
                "before they are multiplied. Together with three chunks of the device's own block, that makes 2n + 1 of 4n "
                "chunks. The bytes that move are the same as before.",
)  # fmt: skip
