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
        "relu-of-the-sums", "relu belongs between the two products, not after the second.", 1, like=of.relu_last),
    WrongValues(
        "own-tokens-only", "Each device has what its own tokens give in its own hidden units, and nothing of the other "
        "units.", 1,
        when=of.own_tokens),
    WrongValues(
        "arrival-order", "Terms of different tokens are added up. Perhaps the first half keeps tokens as they arrive: "
        "after i hops device d holds those of d + i, or of d - i if they go to d + 1.", 2,
        when=of.in_arrival_order),
    WrongValues(
        "sum-ends-next-door", "Each sum is complete, but it is not on the device of its tokens: begin one chunk earlier, or "
        "later.", 2, when=lambda o: next_door(o, of.mlp(*o.inputs))),
    WrongValues(
        "tokens-mixed", "Terms of different tokens are added to one sum. Perhaps the direction in which sums travel does "
        "not fit the order in which chunks are added.", 3, when=of.mixed_tokens),
    WrongValues(
        "term-left-out", "Every sum lacks one device's term: a sum begins with one term, and n - 1 are added to it.", 3,
        when=of.lacks_a_term),
    WrongCost(
        "one-hop-too-many", "Each half has n - 1 hops, and there are more. Perhaps one carries zeros at the start, or "
        "passes on what has been on every device.", 2,
        when=lambda o: rings.only_permutes(o) and rings.hops(o) > 2 * (rings.devices(o) - 1)),
    WrongProgram(
        "moves-first-then-multiplies", APART, 1, barred=True,
        when=lambda o: bare(o, 0.99 * hop_flops(o)) and right(o, of.mlp)),
    WrongProgram(
        "most-before-or-after", "Every hop has arithmetic beside it, but most of the arithmetic waits for the last hop of "
        "the tokens, or is over before the first hop of the sums.", 1, barred=True,
        when=lambda o: right(o, of.mlp) and of.crowded(o, products(o)) > 0.75),
    WrongCost(
        "weights-travel", "Blocks of weights go round. Let tokens go round before the first product, and sums after the "
        "second.", 1,
        when=lambda o: travels(o, 1)),
)  # fmt: skip

QUESTION = Question(
    "12.5", "The whole block", difficulty=4, minutes=55, optional=True,
    items=(
        ProgramItem("overlapped_mlp", {"V": 5, "S": 2.5, "H": 10}, oracle=of.mlp, manual=True,
                    checks=HIDDEN, misconceptions=MLP, rtol=1e-4,
                    atol=2e-4, tolerance=ROUNDING + ", twice", draw=drawing(of.mlp_case, True, False, True,
                                                                                 meshes=(LINE, WIDE)),
                    cases=(of.mlp_case(LINE, 16, 12, 48), of.mlp_case(WIDE, 12, 10, 40))),
    ),
    hints=(
        "Now the gathered dimension is that of the tokens. A chunk of tokens needs no matching rows: it can go through W1 "
        "and relu by itself.",
        "After i hops to d - 1 a device holds the tokens of d + i. Keep relu(x @ w1) in a list. The sums then take these "
        "chunks in an order that fits the direction of their ring.",
        "Let sums go to d - 1 too: begin with h[1] @ w2, then n - 1 times ppermute and add h[i % n] @ w2 for i = 2 .. n.",
    ),
    explanation="There are two rings, one after the other. Tokens go round and are multiplied as they come; sums go round, "
                "and each device adds its term as they pass. No device waits for the whole hidden layer, because relu works "
                "on any chunk of it. If sums start with the chunk that came first, the second ring begins while the first "
                "is still under way. The price is that of chapter 9's sequence-parallel block without each device's own "
                "part. If weights go round instead, the values are right as well. That program moves less when the weights "
                "are smaller than the tokens, and it is called fully sharded data parallelism.",
)  # fmt: skip
