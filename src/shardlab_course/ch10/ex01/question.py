"""Chapter 10, exercise 10.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch10.ex01 import oracle as of
from shardlab_course.ch10.shared import LINE, PLANE, RATE, SUMS, descended, gathers, slopes, training
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongValues

NUMBERS = (
    WrongValues(
        "bytes-grow-with-the-batch", "A gradient is as large as the weights, however many samples are summed in it.",
        1, like=lambda got: _entry(got, "bytes") == _entry(got, "bytes_of_twice_the_batch") / 2),
    WrongValues(
        "elements-not-bytes", "That counts elements. A float32 has 4 bytes.",
        1, like=lambda got: _entry(got, "bytes") == 3085),
    WrongValues(
        "biases-forgotten", "That counts only the matrices. Biases have gradients too.",
        1, like=lambda got: _entry(got, "bytes") == 4 * 2980),
    WrongValues(
        "a-device-s-share",
        "The weights are whole on every device, so each device's term of a gradient has all of their bytes, not an eighth.",
        1, like=lambda got: abs(_entry(got, "bytes") - 4 * 3085 / 8) < 1),
)  # fmt: skip


def _entry(got: Any, name: str) -> float:
    return float(got.get(name, -1))


STEP = (
    WrongValues(
        "sum-instead-of-mean",
        "The loss is the mean over the batch. The gradient of the sum is larger by the number of terms.",
        1, like=descended(summed=True)),
    WrongValues(
        "uphill", "The weights moved along the gradient, which makes the loss larger. Subtract the gradient.",
        1, like=descended(rate=-RATE)),
    WrongValues(
        "gradient-returned", "These are the gradients. The question asks for the weights after one step.", 1, like=slopes),
    WrongValues(
        "sum-over-outputs", "The loss is the mean over samples and outputs. This is the mean over samples only.",
        1, like=descended(outputs=True)),
    WrongValues(
        "half-the-error", "The step is half as long as it should be. Perhaps the loss is half of the mean squared error, or "
        "the rate is half of 0.1.",
        1, like=descended(rate=RATE / 2)),
    WrongCost(
        "pmap-habit",
        "In shard_map with the check on, the gradient of a weight that does not vary is already a sum over the devices. For "
        "local means this sum is n times too large. A pmean of the sum changes nothing, and a psum multiplies the sum by n "
        "again. With the check off, or with weights that were cast to varying, a psum of the local means' gradients is n "
        "times their mean.",
        3, when=lambda o: o.manual and of.steps_too_long(o)),
    gathers("Every device receives all samples. They can stay where they are, because only terms of the gradients have to "
            "be added."),
)  # fmt: skip

QUESTION = Question(
    "10.1", "Who ordered the all-reduce?", difficulty=2, minutes=25,
    items=(
        ValueItem("numbers", {"P": 3}, predicted=True, misconceptions=NUMBERS,
                  key={"bytes": 12340, "bytes_of_twice_the_batch": 12340}),
        ProgramItem("step", {"V": 1, "S": 1, "H": 2}, oracle=descended(), misconceptions=STEP, tolerance=SUMS,
                    cases=(training(LINE, 112, (6, 8, 16)), training(PLANE, 80, (5, 8, 8))), draw=of.draw_training),
    ),
    hints=(
        "Write each weight's gradient with subscripts. Which dimension is summed, and over which axis is it cut?",
        "On every device, a term of a gradient has the shape of its weight. No gradient has the batch in its shape.",
        "step: a function from the four weights to the mean squared error, jax.grad of it, and every weight minus 0.1 "
        "times its gradient. No collective and no constraint.",
    ),
    explanation="dW[D, F] = X[B_x, D]ᵀ·dY[B_x, F] sums over the batch, which is cut on both sides: case 3. So each device "
                "makes terms of the weights' own shapes, and these are added up over the devices. The bytes are those of "
                "the weights, however large the batch is. That is why data parallelism likes large batches.\n\nThe number "
                "of operations that carry these bytes is the compiler's choice: XLA for CPU and for TPU join the sums of "
                "all eight gradients into one here. So a count of operations would not tell a bias from a model. Bytes do. "
                "Nothing in the program says all-reduce. It follows from how the batch and the weights are cut: if every "
                "device updates all of the weights, every device needs the whole gradient.",
)  # fmt: skip
