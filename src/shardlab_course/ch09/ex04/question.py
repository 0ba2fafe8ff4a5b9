"""Chapter 9, exercise 9.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch09.ex04 import oracle as of
from shardlab_course.ch09.shared import LINE, MESHES, ROUNDING, TALL, block, drawing, moves_weights, reduces
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

RATIO = (
    WrongValues(
        "saves-communication", "An all-reduce is a reduce-scatter and an all-gather. Both are still here, in two places.", 1,
        like=lambda got: isinstance(got, float | int) and got < 1),
    WrongValues(
        "gather-comes-on-top", "The all-gather is not an extra: the all-reduce has lost its second half.", 1, like=1.5),
)  # fmt: skip
SHARE = (
    WrongValues(
        "activations-stay-whole", "Outside the two products every device now holds only its own tokens.", 1, like=1),
    WrongValues("halved", "The tokens are cut over all eight devices.", 1, like=0.5),
)  # fmt: skip
BLOCK = (
    LEFT,
    WrongValues(
        "bias-on-every-device", "The output contains b2 n times, for n devices. Perhaps every device adds it before the "
        "sum.", 2, when=of.block_bias_each),
    WrongValues(
        "residual-on-every-device", "The output contains X n times, for n devices. Perhaps every device adds it before the "
        "sum: add your own tokens after the sum.", 2, when=of.residual_each),
    WrongValues(
        "residual-forgotten", "The output is that of the MLP alone. Add X to it.", 1, when=of.residual_forgotten),
    WrongValues(
        "norm-forgotten", "The products need norm(X, scale). Only the residual is X itself.", 1,
        like=of.block_without_norm),
    WrongValues(
        "bias-forgotten", "b2 is missing. Add it to your own tokens, after the sum.", 1, like=of.block_without_bias),
    WrongValues(
        "epsilon-forgotten", "norm adds a small number under its root. Where a token is small, that number decides.", 1,
        like=of.block_without_epsilon),
    WrongValues("residual-of-the-norm", "The residual is X itself, not norm(X, scale).", 1, like=of.block_on_norm),
    WrongValues(
        "tokens-not-gathered", "Each device put its own tokens through its own hidden units only. But every token needs "
        "all hidden units. Gather the tokens before the first product, and add up their terms after the second.", 2,
        local=lambda at, *blocks: block(*blocks), when=of.own_tokens_added),
    WrongCost(
        "weights-gathered", "This program sends whole weights. Leave them where they are, and move tokens.", 2,
        when=moves_weights),
    WrongCost(
        "all-tokens-everywhere", "Every device ends with all tokens. The next norm needs only a device's own.", 1,
        when=lambda o: of.right_block(o) and o.placements[0].shard_shape == o.placements[0].shape),
    WrongCost(
        "reduces-then-slices", "The all-reduce brings all tokens to every device, which then keeps only its own. The "
        "second half of the all-reduce is unnecessary.",
        2, when=lambda o: of.right_block(o) and reduces(o, o.inputs[0].size)),
    WrongProgram(
        "wrong-dimension", "Two arrays of different shapes meet. Perhaps one has your own tokens, and the other has all "
        "tokens, or parts along the other dimension. Tokens are dimension 0.", 3,
        error=r"(?i)incompatible shapes for broadcasting: (shapes=\[)?\(\d+, \d+\), \((?!1,)\d+, \d+\)"),
    WrongProgram(
        "scatter-not-tiled", "Without tiled=True the size of the scattered dimension must be the number of devices along "
        "the axis, and the dimension disappears.", 3, error="must match shard count"),
)  # fmt: skip

QUESTION = Question(
    "9.4", "Sequence parallelism", difficulty=4, minutes=50,
    known_as="Megatron-LM's sequence parallelism (Korthikanti and others, 2022)",
    items=(
        ValueItem("price", {"P": 1.25}, predicted=True, key=1, misconceptions=RATIO),
        ValueItem("activations", {"P": 1.25}, predicted=True, key=0.125, rtol=1e-6, misconceptions=SHARE),
        ProgramItem("block", {"V": 4.75, "S": 2.5, "H": 4.75, "M": 2.5}, oracle=block, names=of.steps, manual=True,
                    misconceptions=BLOCK,
                    rtol=2e-4, atol=2e-4, tolerance=ROUNDING + ", after a norm",
                    draw=drawing(of.block_case, MESHES, 3),
                    cases=(of.block_case(LINE, 16, 24, 96), of.block_case(TALL, 24, 16, 80))),
    ),
    hints=(
        "Norm, bias and residual work on one token at a time. Which tokens does a device hold before the first product, "
        "and which should it hold after the second?",
        "Gather tokens right before the first product. Add them up and scatter them right after the second. Do everything "
        "else on a device's own tokens.",
        "all_gather(..., axis=0, tiled=True), two products, psum_scatter(..., scatter_dimension=0, tiled=True), then + b2 "
        "and + x, both on your own tokens.",
    ),
    explanation="The all-reduce of the plain block is a reduce-scatter and an all-gather, one right after the other. Here "
                "they are moved apart. Between the scatter of one block and the gather of the next are the norm, the bias, "
                "the residual and the dropout, which work token by token. The price, as XLA for CPU compiles it, is the "
                "same: an array of T·D numbers, twice for each block.\n\nWhat shrinks is everything in between: a device "
                "holds, and computes, T / n tokens instead of T. An all-reduce and a slice give the same values for one and "
                "a half times the price. If you gather before the norm, you move no more bytes, but every device then "
                "normalizes every token.",
)  # fmt: skip
