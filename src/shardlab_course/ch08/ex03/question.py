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
        "A hop carries more than one chunk, perhaps the whole buffer. Only the sum that came last is new.",
        1, when=lambda o: adds_up(o) and rings.largest(o) > o.inputs[0][0].nbytes // rings.devices(o)),
    WrongValues(
        "arrival-order",
        "The sums lie in a different order on each device, perhaps as they came. A sum's place is the number of its "
        "chunk.",
        2, when=lambda o: rotated(o, summed(o.inputs[0]))),
    WrongValues(
        "counts-the-wrong-way",
        "In the second half the places go the wrong way round. After i hops to the next device you hold the sum that "
        "began on (d - i) % n; after i hops to the one before, the sum that began on (d + i) % n.", 2,
        when=lambda o: mirrored(o, summed(o.inputs[0]))),
    WrongCost(
        "half-an-all-reduce",
        "Every device holds one finished chunk, and the program ends there. The second half passes the sums round once "
        "more.",
        1, when=of.ends_halfway),
    WrongValues(
        "one-hop-short",
        "Finished sums are missing, with zeros in their place. The second half takes n - 1 hops as well, and a device "
        "keeps its own sum and every arrival.", 2, when=lambda o: incomplete(o, summed(o.inputs[0]))),
    WrongValues(
        "term-left-out",
        "Every sum lacks one device's term. In the first half a sum begins with a chunk, not with zeros, and an addition "
        "follows each of the n - 1 hops, including the last one.", 2, when=of.short_sums),
    WrongValues(
        "finished-sums-added",
        "Some sums have a term more than once. In the first half each device adds its own term once to each sum. In the "
        "second half what arrives is finished, and nothing is added.",
        2, when=lambda o: bool(np.any(of.tally(o) > 1))),
    WrongValues(
        "unfinished-sum-passed-on",
        "Some sums lack terms. Perhaps the first half ends too early, or does not add on every device. Perhaps the second "
        "half ends too early, or forwards a chunk other than the finished one.",
        2, when=lambda o: bool(np.any(of.tally(o) == 0))),
)  # fmt: skip

QUESTION = Question(
    "8.3", "A ring all-reduce", difficulty=3, minutes=35,
    known_as="the ring all-reduce (Patarasuk and Yuan, 2009)",
    items=(
        program("ring_all_reduce", {"V": 2.5, "S": 1.25, "H": 6.25}, summed, TERMS, ROWS, WHOLE, terms, REDUCE),
    ),
    hints=(
        "You have both halves already. What does each device hold after the first half, and is it what the second half "
        "starts from?",
        "Reduce-scatter leaves chunk d on device d; gather it as in 8.1. Together that is 2 (n - 1) permutes, each of one "
        "chunk.",
        "Call the bodies of 8.2 and 8.1, in this order, inside one shard_map: sum the block's chunks round the ring, "
        "then pass the finished chunk round. check_vma=False.",
    ),
    explanation="2 (n - 1) permutes of V / n bytes are less than 2 V per device, whatever n is. That is why this course "
                "counts an all-reduce twice.\n\nThe tempting version keeps a running total and lets each device's whole "
                "term travel past all the others. Its n - 1 hops look like half the work, and allclose finds its values "
                "right. But it moves n / 2 times the bytes: for the page's terms 7 permutes of 4,096 bytes in place of 14 "
                "of 512. And each device adds in its own order, so the copies differ in their last digits, and "
                "out_specs=P() is a promise that is not kept. If sums travel, each chunk is added up once, and then copied.",
)  # fmt: skip
