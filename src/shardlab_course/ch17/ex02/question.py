"""Chapter 17, exercise 17.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch17.ex02 import oracle as of
from shardlab_course.ch17.misconceptions import GATHERED, NO_NUMBERS, OPEN, SUMMED, UNSCALED
from shardlab_course.ch17.shared import (
    LINE,
    ROUNDING,
    UNSEEN,
    WIDE,
    attention,
    attention_case,
    draw_attention,
    of_devices,
    states,
    without_root,
)
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

RING = (
    LEFT, OPEN,
    WrongValues(
        "sees-the-future", "Every query sees all keys. A query at position i may see positions 0 to i only.", 1,
        when=of_devices(of.unmasked)),
    WrongValues(
        "mask-of-local-positions", "Each block of scores was masked as if it lay on the diagonal. A mask compares "
        "positions in the whole sequence: add the block's first position.", 2,
        when=of_devices(of.local_mask)),
    WrongValues(
        "own-block-not-masked", "Earlier blocks are seen and later ones are not, but within the device's own block every "
        "query sees every key.", 2,
        when=of_devices(of.whole_blocks)),
    WrongValues(
        "counts-the-wrong-way", "The positions of the keys are counted against the direction in which they travel. If "
        "blocks go to d + 1, device d holds the block of d - i after i hops.", 2,
        when=of_devices(of.backwards)),
    WrongValues(
        "own-key-not-seen", "A query does not see its own position. Position i sees positions 0 to i, with i.", 1,
        when=of.own_key_unseen),
    WrongValues(
        "own-block-only", "Each device used its own keys and values alone.", 1, when=of_devices(of.own_block)),
    WrongValues(
        "values-stay", "Keys travel, but the weights of every block met the device's own values. Keys and values travel "
        "together.", 1,
        when=of_devices(of.values_stay)),
    WrongValues("scores-not-scaled", UNSCALED, 1, like=without_root),
    NO_NUMBERS, GATHERED, SUMMED,
    WrongCost(
        "one-hop-too-many", "n - 1 hops bring every block to every device; one more hop returns each block to its own "
                            "device.", 3,
        when=of.one_hop_more),
)  # fmt: skip

QUESTION = Question(
    "17.2", "Keys go round", difficulty=4, minutes=50, known_as="ring attention (Liu and others, 2023)",
    items=(
        ProgramItem("ring_attention", {"V": 5, "S": 2, "H": 5, "M": 3}, oracle=attention, manual=True, checks=UNSEEN,
                    names=states, misconceptions=RING, rtol=1e-3, atol=1e-4, tolerance=ROUNDING, draw=draw_attention,
                    cases=(attention_case(LINE, 256, 8), attention_case(WIDE, 192, 6))),
    ),
    hints=(
        "Queries stay. Which block of keys does device d hold after i hops, and which positions are in it?",
        "Start with the device's own block: then no query begins without a key. Keep the triple of all blocks so far, merge "
        "each block's triple with it, and divide at the end.",
        "In round i: at = arange(m) + (d - i) % n * m; state = merged(state, part(q, k, v, at <= mine[:, None])); in all "
        "rounds but the last, ppermute k and v to d + 1.",
    ),
    explanation="A query needs every earlier key once, and the order does not matter, because triples can be merged in any "
                "order. So each device keeps its queries and their triples, and the blocks of keys and values go round. "
                "A device holds two blocks of each at most, however long the sequence is. Each of the n - 1 hops carries "
                "a block of keys and a block of values.\n\nThe mask compares positions in the whole sequence. "
                "Device d holds the block of device d - i after i hops, so the positions of the keys follow from d and i "
                "and need not travel. If a block lies in the future of all of a device's queries, its scores are all "
                "masked: the device works for nothing.",
)  # fmt: skip
