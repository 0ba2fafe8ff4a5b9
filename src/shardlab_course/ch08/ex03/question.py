"""Chapter 8, exercise 8.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch08.ex03 import oracle as of
from shardlab_course.ch08.shared import (
    ENDS,
    GATHERING,
    KEPT,
    ROTATION,
    ROWS,
    SUMS,
    TERMS,
    WHOLE,
    adds_up,
    incomplete,
    mirrored,
    program,
    rotated,
    summed,
    terms,
)
from shardlab_course.shared import rings
from shardlab_judge.question import Question, WrongCost, WrongValues

REDUCE = (
    *GATHERING, SUMS, KEPT, ROTATION, ENDS,
    WrongCost(
        "sends-all-it-has",
        "The buffer travels, with sums that the next device has already; only the sum that came last is news.",
        1, when=lambda o: adds_up(o) and rings.largest(o) > o.inputs[0][0].nbytes // rings.devices(o)),
    WrongValues(
        "arrival-order",
        "Each device laid the sums down in the order in which they came; a sum's place is the number of its chunk.",
        2, when=lambda o: rotated(o, summed(o.inputs[0]))),
    WrongValues(
        "counts-the-wrong-way",
        "In the second half the places go the wrong way round. After i hops to the next device you hold the sum that "
        "began on (d - i) % n, after i hops to the one before that of (d + i) % n.", 2,
        when=lambda o: mirrored(o, summed(o.inputs[0]))),
    WrongCost(
        "half-an-all-reduce",
        "Every device holds one finished chunk, and there it ends; the second half passes the sums round once more.",
        1, when=of.ends_halfway),
    WrongValues(
        "one-hop-short", "Finished sums are missing, with zeros in their place: the second half takes n - 1 hops as well, "
        "and a device keeps its own and every arrival.", 2, when=lambda o: incomplete(o, summed(o.inputs[0]))),
    WrongValues(
        "term-left-out",
        "Every sum lacks one device's term. In the first half it begins with a chunk, not with zeros, and each of n - 1 "
        "hops, the last one too, is followed by an addition.", 2, when=of.short_sums),
    WrongValues(
        "finished-sums-added",
        "Some sums have a term more than once. In the first half each device adds its own once to each; in the second what "
        "arrives is finished, and is not added.",
        2, when=lambda o: bool(np.any(of.tally(o) > 1))),
    WrongValues(
        "unfinished-sum-passed-on",
        "Some sums lack terms: the first half ends too early or does not add at every stop, or the second ends too early, "
        "or passes on another chunk than the one that is finished.", 2, when=lambda o: bool(np.any(of.tally(o) < 1))),
)  # fmt: skip

QUESTION = Question(
    "8.3", "A ring all-reduce", difficulty=3, minutes=35,
    items=(
        program("ring_all_reduce", {"V": 1, "S": 0.5, "H": 2.5}, summed, TERMS, ROWS, WHOLE, terms, REDUCE),
    ),
    hints=(
        "You have both halves already. What does each device hold after the first, and is it what the second starts from?",
        "Reduce-scatter leaves chunk d on device d; gather it as in 8.1. Together 2 (n - 1) permutes, each of one chunk.",
        "Call the bodies of 8.2 and 8.1, in this order, inside one shard_map: sum the block's chunks round the ring, "
        "then pass the finished chunk round. check_vma=False.",
    ),
    explanation="2 (n - 1) permutes of V / n bytes: whatever n is, less than 2 V a device. That is why an all-reduce is "
                "counted twice in this course. The tempting version keeps a running total and lets each device's whole "
                "term travel past everyone. Its n - 1 hops look like half the work, and allclose finds its values right;"
                " it moves n / 2 times the bytes: 7 permutes of 4,096 bytes in place of 14 of 512. And each device adds "
                "in its own order, so the copies differ in their last digits, and out_specs=P() is a promise that is not"
                " kept. With travelling sums each chunk is added up once, and then copied.",
)  # fmt: skip
