"""Chapter 12, exercise 12.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch12.ex05 import oracle as of
from shardlab_course.ch12.misconceptions import APART, WAYS
from shardlab_course.ch12.shared import (
    HIDDEN,
    LINE,
    ROUNDING,
    WIDE,
    bare,
    drawing,
    hop_flops,
    next_door,
    products,
    right,
    travels,
)
from shardlab_course.shared import rings
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

MLP = (
    *WAYS,
    WrongValues("relu-forgotten", "There is no relu between the two products.", 1, like=of.linear),
    WrongValues(
        "relu-of-the-sums", "relu stands between the two products, and not behind the second.", 1, like=of.relu_last),
    WrongValues(
        "own-tokens-only", "Each device put its own tokens through its own hidden units, and nothing was added up.", 1,
        when=of.own_tokens),
    WrongValues(
        "arrival-order", "Tokens lie in the order in which they came, and the second half takes them for those of the "
        "chunk's number: after i hops device d holds the tokens of d + i.", 2, when=of.in_arrival_order),
    WrongValues(
        "sum-ends-next-door", "Each sum is whole, and lies on another device than its tokens: begin one chunk "
        "earlier, or later.", 2, when=lambda o: next_door(o, of.mlp(*o.inputs))),
    WrongValues(
        "tokens-mixed", "Terms of different tokens meet in one sum: the way that sums travel, and the order in which they "
        "meet the chunks, do not fit together.", 3, when=of.mixed_tokens),
    WrongValues(
        "term-left-out", "Every sum lacks one device's term: a sum begins with one, and n - 1 are added to it.", 3,
        when=of.lacks_a_term),
    WrongCost(
        "one-hop-too-many", "Each half has n - 1 hops; a further one carries zeros at the start, or brings home what has "
        "been everywhere.", 2,
        when=lambda o: rings.only_permutes(o) and rings.hops(o) > 2 * (rings.devices(o) - 1)),
    WrongProgram(
        "moves-first-then-multiplies", APART, 1, barred=True,
        when=lambda o: bare(o, 0.99 * hop_flops(o)) and right(o, of.mlp)),
    WrongProgram(
        "most-before-or-after", "Every hop has arithmetic beside it; but most of the arithmetic waits "
        "for the last hop of the tokens, or is over before the first hop of the sums.", 1, barred=True,
        when=lambda o: right(o, of.mlp) and of.crowded(o, products(o)) > 0.75),
    WrongCost(
        "weights-travel", "Blocks of weights go round. Tokens do before the first product, and sums after the second.", 1,
        when=lambda o: travels(o, 1)),
)  # fmt: skip

QUESTION = Question(
    "12.5", "The whole block", difficulty=4, minutes=55, optional=True,
    items=(
        ProgramItem("overlapped_mlp", {"V": 1, "S": 0.5, "H": 2}, oracle=of.mlp, manual=True,
                    checks=HIDDEN, misconceptions=MLP, rtol=1e-4,
                    atol=2e-4, tolerance=ROUNDING + ", twice", draw=drawing(of.mlp_case, True, False, True,
                                                                                 meshes=(LINE, WIDE)),
                    cases=(of.mlp_case(LINE, 16, 12, 48), of.mlp_case(WIDE, 12, 10, 40))),
    ),
    hints=(
        "Now the gathered dimension is that of the tokens. A chunk of tokens needs no partner rows: it can go through W1 "
        "and relu by itself.",
        "After i hops to d - 1 a device holds the tokens of d + i. Keep relu(x @ w1) in a list. The sums then take these "
        "chunks in an order that fits their way round.",
        "Sums that also go to d - 1: begin with h[1] @ w2, then n - 1 times ppermute and add h[i % n] @ w2 for i = 2 .. n.",
    ),
    explanation="Two rings behind one another: tokens go round and are multiplied as they come, sums go round and are "
                "added to as they pass. Between them nobody waits for the hidden layer to be whole, since relu works on "
                "any chunk of it. If sums start with the chunk that came first, the second ring begins while the first is "
                "still under way. The price is that of the sequence-parallel block of chapter 9, without each device's "
                "own part. Let weights go round instead and the values are right as well: that is the better program as "
                "soon as weights are smaller than tokens, and it has another name, fully sharded data parallelism.",
)  # fmt: skip
