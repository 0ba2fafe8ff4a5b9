"""Chapter 17, exercise 17.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import functools

from shardlab_course.ch17.ex01 import oracle as of
from shardlab_course.ch17.misconceptions import UNSCALED
from shardlab_course.ch17.shared import (
    IN_PARTS,
    LINE,
    ROUNDING,
    UNSEEN,
    WIDE,
    attention,
    scores_bytes,
    states,
    without_root,
)
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

MERGE = (
    WrongValues(
        "parts-added-as-they-are", "The sums of both parts were added although they stand under different maxima. Multiply "
        "each with exp(its maximum - the new maximum) first.", 2, like=of.added),
    WrongValues(
        "weighted-sum-not-rescaled", "Only the sum of exponentials was rescaled to the new maximum. The weighted sum "
        "has the same unit, and needs the same factor.", 2, like=of.total_alone),
    WrongValues(
        "factors-exchanged", "Each part was multiplied with the other part's factor. A part's factor is exp(its own "
        "maximum - the new maximum).", 2, like=of.upside_down),
    WrongValues(
        "divided-too-early", "The weighted sum was divided already. Divide once, after the last part.", 1, like=of.divided),
)  # fmt: skip
BLOCKWISE = (
    WrongValues(
        "blocks-averaged", "Each block has its own softmax here, and their outputs were averaged. A block whose scores are "
        "larger must count for more.", 1, like=of.blocks_averaged),
    WrongValues(
        "old-sums-not-rescaled", "When a block brings a larger maximum, the sums so far stand under the old one. Multiply "
        "them with exp(old - new).", 2, like=of.unscaled),
    WrongValues(
        "never-divided", "The weighted sum was never divided by the sum of exponentials.", 1, like=of.undivided),
    WrongValues(
        "scores-not-scaled", UNSCALED, 1, like=functools.partial(without_root, causal=False)),
    WrongValues(
        "masked", "Each query sees only the keys up to its own. In this exercise it sees all keys.", 1, like=attention),
    WrongValues(
        "no-maximum-subtracted", "Some values are not numbers. Perhaps no maximum was subtracted, and float32 cannot hold "
        "exp(100): in every exponent, subtract the largest score so far.", 2,
        when=of.overflowed),
    WrongCost(
        "all-scores-at-once", "A device holds an array as large as the scores of its queries against all keys, and perhaps "
        "it is these scores. Its bytes grow with the square of the sequence.", 3,
        when=lambda o: o.largest >= scores_bytes(o)),
)  # fmt: skip

QUESTION = Question(
    "17.1", "A softmax in two parts", difficulty=3, minutes=40,
    known_as="online softmax (Milakov and Gimelshein, 2018)",
    items=(
        ProgramItem("merge", {"V": 4, "S": 1}, oracle=of.merge, misconceptions=MERGE, draw=of.draw_merge,
                    cases=(of.merge_case(LINE, 24, 5), of.merge_case(WIDE, 16, 6))),
        ProgramItem("blockwise", {"V": 3, "S": 1, "M": 3}, oracle=functools.partial(attention, causal=False), checks=UNSEEN,
                    names=functools.partial(states, causal=False),
                    misconceptions=BLOCKWISE, draw=of.draw_blocks, rtol=1e-3, atol=1e-4, tolerance=ROUNDING,
                    cases=(IN_PARTS(LINE, 512, 8), IN_PARTS(WIDE, 640, 6))),
    ),
    hints=(
        "Two people add up prices, one in euros and one in dollars. What must happen before their sums may be added?",
        "A sum under the maximum m is the true sum times exp(-m). To bring it under the maximum M, multiply it with "
        "exp(m - M). The weighted sum has the same unit.",
        "merge: a = exp(m - new), b = exp(M - new), then z * a + Z * b, and y likewise. blockwise: lax.scan over blocks of "
        "keys, merge each part, divide at the end.",
    ),
    explanation="Softmax seems to need a whole row, because it subtracts the row's maximum and divides by the row's sum. "
                "Both can be known late. A part of the row keeps three things: its maximum, its sum of exponentials under "
                "that maximum, and the values' sum with the same weights. Two parts are merged by bringing both to the "
                "larger maximum. The order of the parts does not matter, and neither does their size.\n\nSo the scores of "
                "one block are made, used and forgotten, and no array grows with the square of the sequence. "
                "FlashAttention does this inside a chip, ring attention does it between chips, and flash-decoding does it "
                "with the cache of a model that writes. All three merge parts of a softmax in this way.",
)  # fmt: skip
