"""Chapter 9, exercise 9.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch09.ex03 import oracle as of
from shardlab_course.ch09.shared import LINE, MESHES, PROMISE, ROUNDING, WIDE, drawing
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

TIMES = (
    WrongValues(
        "one-extra-a-device", "The sum contains eight biases. One of them belongs there, so seven are too many.", 1, like=8),
    WrongValues(
        "bias-is-a-copy", "A copy that every device adds before a sum is in the sum once for each device.", 1, like=0),
    WrongValues("bias-once-too-often", "The sum contains the bias of each of the eight devices.", 1, like=1),
)  # fmt: skip
BIASED = (
    WrongCost(
        "parts-gathered", "A bias or a weight is gathered, by an in_spec without `model` or by an all-gather. A device "
        "needs only its own part of b1 and of the weights, and it has all of b2.", 2, when=of.moves_parameters),
    LEFT,
    WrongValues(
        "divided-by-a-constant", "The output contains b2 n / 8 times, for n devices along `model`. Perhaps each device adds "
        "an eighth of it: take the number from mesh.shape or jax.lax.axis_size.", 1, when=of.by_a_constant),
    WrongValues(
        "bias-on-every-device", "The output contains b2 n times, for n devices. Perhaps every device adds it before the "
        "sum.", 1, when=of.second_bias_each),
    WrongValues(
        "bias-forgotten", "A bias is missing: b1 belongs inside the relu, b2 is added to the output.", 1,
        when=of.bias_forgotten),
    WrongValues("bias-after-relu", "b1 is added after the relu. It belongs inside.", 1, like=of.bias_after),
    WrongValues("relu-forgotten", "There is no relu between the two products.", 1, like=of.straight),
    WrongProgram(
        "whole-bias-on-a-slice", "A bias does not fit the array that it is added to. Cut b1 and the columns of W1 alike, "
        "both over `model`. b2 has the columns of the output.", 2,
        error=r"(?i)incompatible shapes for broadcasting: (shapes=\[)?\(\d+, \d+\), \((1, )?\d+,?\)"),
    PROMISE,
)  # fmt: skip

QUESTION = Question(
    "9.3", "A bias is added once", difficulty=2, minutes=20,
    items=(
        ValueItem("times", {"P": 1.25}, predicted=True, key=7, misconceptions=TIMES),
        ProgramItem("mlp_bias", {"V": 2.25, "S": 1.25, "H": 1.25}, oracle=of.biased, names=of.steps, manual=True,
                    misconceptions=BIASED,
                    rtol=1e-4, atol=1e-4, tolerance=ROUNDING, draw=drawing(of.bias_case, MESHES, 3),
                    cases=(of.bias_case(LINE, 16, 24, 96), of.bias_case(WIDE, 8, 24, 80))),
    ),
    hints=(
        "For each bias, ask: is it added to finished numbers, or to terms?",
        "b1 belongs to hidden units, so it is cut with them. b2 belongs to the finished output.",
        "relu(x @ w1 + b1) with b1 as P('model'), then psum of the product with w2, then + b2, which every device holds "
        "whole.",
    ),
    explanation="b1 is added to finished columns of the hidden layer, and each device adds the part that belongs to its "
                "columns. b2 is added to the output. If it is added to the terms, it is in every term, so n times in the "
                "sum, and the output is too large by n − 1 times b2. Three ways are right: add b2 after the sum; add it "
                "on one device only, before the sum; or add an n-th of it on each device, before the sum.\n\nThe first is "
                "the simplest, and it is what the types ask for: b2 does not vary along `model`, and after the psum "
                "neither does the output. Biases often start as zeros, so a check right after initialization would pass "
                "in spite of the mistake.",
)  # fmt: skip
