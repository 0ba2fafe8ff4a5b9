"""Chapter 17, exercise 17.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch17.ex03.oracle import zigzag
from shardlab_course.ch17.ex05 import oracle as of
from shardlab_course.ch17.shared import LINE, WIDE
from shardlab_course.shared import rings
from shardlab_course.shared.sent import sent
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

ROTATED = (
    WrongValues(
        "counts-from-zero", "Every device counts its positions from 0. Add where its chunks begin.", 1,
        when=of.turns(of.local)),
    WrongValues(
        "rows-taken-for-positions", "Row i was taken for position i. The rows lie in zigzag order.", 1,
        when=of.turns(of.in_order)),
    WrongValues(
        "second-chunk-follows-first", "The second chunk was counted on from the first. It is chunk 2n - 1 - d of the "
        "sequence.",
        2, when=of.turns(of.first_chunk_alone)),
    WrongValues(
        "turned-backwards", "The angles have the wrong sign: (a, b) becomes (a cos - b sin, b cos + a sin).", 2,
        when=of.turns(zigzag, sign=-1)),
    WrongValues(
        "neighbours-paired", "Neighbouring features were paired. Here feature i is paired with feature i + D / 2.", 2,
        when=of.turns(zigzag, beside=True)),
    WrongCost(
        "communicates-for-nothing", "Something was sent. A device can work out the positions of its rows from its own "
        "place.", 1,
        when=lambda o: o.price > 0),
)  # fmt: skip
LABELS = (
    WrongValues(
        "first-token-of-own-block", "On each device the block's own first token follows its last. The next token is the "
        "first of the next device.", 1, local=of.within_blocks),
    WrongValues(
        "cut-ends-the-text", "The last token of every device has the label -1. Only the last token of the whole sequence "
        "has none.", 1, local=of.ends_everywhere),
    WrongValues(
        "begins-again", "The last token of the sequence got the first token as its label. Nothing follows it: its label "
        "is -1.", 2, like=lambda tokens: of.ends_with(int(tokens[0]), tokens)),
    WrongValues(
        "zero-at-the-end", "The last label is 0. A device to which nobody sends gets zeros; write -1 there.", 2,
        like=lambda tokens: of.ends_with(0, tokens)),
    WrongValues(
        "token-before", "These are the tokens before. A label is the token that follows.", 1,
        like=lambda tokens: of.ends_with(0, tokens[::-1])[::-1]),
    WrongCost(
        "whole-block-sent", "More than one token was sent. A device needs only the first token of its neighbour's block.", 2,
        when=lambda o: rings.only_permutes(o) and rings.largest(o) > 4),
    WrongCost(
        "tokens-gathered", "Tokens of all devices were brought together. A device needs one token, of one neighbour.", 2,
        when=lambda o: sent(o, "all-gather") >= o.inputs[0].nbytes),
)  # fmt: skip

QUESTION = Question(
    "17.5", "What the cut must not change", difficulty=3, minutes=40,
    items=(
        ProgramItem("rotated", {"V": 4, "S": 1, "H": 1}, rights=of.rotated, misconceptions=ROTATED,
                    rtol=1e-3, atol=1e-3, tolerance="angles of up to 400 in float32", draw=of.draw_rows,
                    cases=(of.rows_case(LINE, 64, 8), of.rows_case(WIDE, 48, 6))),
        ProgramItem("labels", {"V": 3, "S": 1, "H": 2}, oracle=of.labels, misconceptions=LABELS, draw=of.draw_tokens,
                    cases=(of.tokens_case(LINE, 40), of.tokens_case(WIDE, 32))),
    ),
    hints=(
        "A device knows its place along x. Which positions do its rows have, and which token follows its last one?",
        "Device d has chunks d and 2n - 1 - d of S / (2n) rows each. It lacks one label: the first token of device d + 1.",
        "rotated: at = concatenate([d * c + arange(c), (2n - 1 - d) * c + arange(c)]) inside shard_map. labels: ppermute "
        "tokens[:1] to d - 1, append it, and write -1 at the very end.",
    ),
    explanation="Everything that depends on where a token stands in the text depends on its position, and never on its row. "
                "Rotary embeddings, the mask, a window and the borders of packed documents are of this kind. Positions "
                "can be worked out from axis_index, so they cost nothing. If each device counts from 0, no shape and no "
                "collective is wrong, and nothing raises an error.\n\nLabels are the tokens one "
                "place further on. A shift across a cut needs the neighbour's first token, which is 4 bytes. Many "
                "programs shift before they cut, in the input pipeline. Then nothing moves at all, and the last label of "
                "each shard is right as well.",
)  # fmt: skip
