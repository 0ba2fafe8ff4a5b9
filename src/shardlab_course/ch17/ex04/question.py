"""Chapter 17, exercise 17.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch17.ex04 import oracle as of
from shardlab_course.ch17.misconceptions import NO_NUMBERS, UNSCALED
from shardlab_course.ch17.shared import LINE, ROUNDING, WIDE, of_devices
from shardlab_course.shared.manual import LEFT
from shardlab_course.shared.sent import sends_a_part
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

MOVED = (
    WrongValues(
        "ring-comes-home", "The ring was counted with n hops. After n - 1 hops every block has been everywhere.", 2,
        like=of.moved_with("round")),
    WrongValues(
        "keys-alone", "For gather and ring, this is half of the right number. Perhaps keys were counted and values were "
        "not: both are needed on every device.", 1,
        like=of.moved_with("one")),
    WrongValues(
        "query-heads-counted", "Gather and ring move keys and values, which have G heads and not H.", 2,
        like=of.moved_with("heads")),
    WrongValues(
        "keys-and-values-alone", "For Ulysses, only keys and values were counted. The queries change hands too, and so "
        "does the output.", 2, like=of.moved_with("two")),
    WrongValues(
        "output-forgotten", "For Ulysses, the queries or the output are missing. The output is made by heads, and has to "
        "go back to its tokens.", 2,
        like=of.moved_with("three")),
    WrongValues(
        "whole-arrays", "For Ulysses, whole arrays were counted. In an all-to-all each device sends its own shard.", 2,
        like=of.moved_with("whole")),
    WrongValues(
        "query-heads-decide", "Ulysses was refused only where the query heads cannot be cut. The key heads are fewer, so "
        "they decide.", 1, like=of.moved_with("either")),
    WrongValues(
        "heads-without-limit", "Ulysses cuts the heads, and a device cannot get a part of a head. Return None if n does not "
        "divide G.", 1, like=of.moved_with("unlimited")),
    WrongValues(
        "four-bytes", "This is twice the right number: a bfloat16 number has 2 bytes.", 1, like=of.moved_with("floats")),
)  # fmt: skip
ULYSSES = (
    LEFT,
    WrongValues(
        "sees-the-future", "Every query sees all keys. A query at position i may see positions 0 to i only.", 1,
        like=of.unmasked),
    WrongValues(
        "heads-taken-in-turn", "Query heads took the key heads in turn. Query heads that stand side by side share one key "
        "head: repeat each key head, do not tile them.", 2,
        when=of_devices(of.taken_in_turn)),
    WrongValues(
        "own-tokens-only", "Each device attended to its own tokens. Bring all tokens of some heads together first.", 1,
        when=of_devices(of.own_tokens)),
    WrongValues("scores-not-scaled", UNSCALED, 1, like=of.without_root),
    NO_NUMBERS,
    WrongCost(
        "copies-travel", "As much is sent as if there were as many key heads as query heads. Perhaps key heads were "
        "repeated before they travelled: repeat them where they arrive.", 3, when=of.copies_travel),
    WrongCost(
        "all-gathered", "Whole arrays were gathered on every device. A device needs all tokens of its own heads only.", 2,
        when=lambda o: sends_a_part(o, "all-gather")),
)  # fmt: skip

QUESTION = Question(
    "17.4", "Tokens or heads", difficulty=3, minutes=40, known_as="DeepSpeed Ulysses (Jacobs and others, 2023)",
    items=(
        CallsItem("moved", {"C": 4}, oracle=of.moved, misconceptions=MOVED, draw=of.draw_sizes, calls=(
            ("gather", 131072, 32, 8, 128, 8), ("ring", 131072, 32, 8, 128, 8), ("ulysses", 131072, 32, 8, 128, 8),
            ("ulysses", 4096, 32, 8, 128, 16), ("ulysses", 4096, 8, 4, 64, 16),
            ("ring", 4096, 16, 16, 64, 4), ("ulysses", 4096, 16, 16, 64, 4),
        )),
        ProgramItem("ulysses", {"V": 4, "S": 1, "H": 3}, oracle=of.by_heads, manual=True, misconceptions=ULYSSES,
                    rtol=1e-3, atol=1e-4, tolerance=ROUNDING, draw=of.draw_heads,
                    cases=(of.heads_case(LINE, 32, 32, 16, 5), of.heads_case(WIDE, 24, 16, 8, 6))),
    ),
    hints=(
        "Which arrays travel in each way, how often, and how many heads has each of them?",
        "Exercise 8.9 turns a placement by tokens into one by heads and back. Between the two a device has all "
        "tokens of some heads.",
        "all_to_all with split_axis=1, concat_axis=0 on q, k and v; repeat the key heads; attention of each head; "
        "all_to_all with split_axis=0, concat_axis=1 on the output.",
    ),
    explanation="Gather and ring move keys and values, so grouped queries make them cheap: fewer key heads, fewer bytes. "
                "The ring's price is an n-th less, only because a gather's price includes the device's own block. The ring "
                "holds two blocks of keys at most, but takes n - 1 steps.\n\nUlysses moves four arrays, each once. An "
                "all-to-all's price is one shard, so the price falls as devices are added, while the ring's rises towards "
                "the gather's. A device then has all tokens of its heads, "
                "needs no mask by blocks, and every device works the same. The limit is the number of key heads. Beyond "
                "it either key heads are copied, or each head's sequence is cut by a ring as well.",
)  # fmt: skip
