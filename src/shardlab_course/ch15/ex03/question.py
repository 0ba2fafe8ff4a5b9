"""Chapter 15, exercise 15.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import math
from typing import Any

from shardlab_course.ch15.ex03 import oracle as of
from shardlab_course.ch15.shared import CARRY, moved
from shardlab_course.shared.manual import LEFT, promise
from shardlab_course.shared.sent import little_beside
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues


def _near(got: Any, four: float, sixteen: float) -> bool:
    return abs(float(got["four"]) - four) < 0.01 and abs(float(got["sixteen"]) - sixteen) < 0.01


BUBBLE = (
    WrongValues(
        "no-bubble-at-m-equal-s",
        "With as many microbatches as stages, all stages are busy in one tick only: each is idle for S - 1 ticks, "
        "whatever M is.",
        1, like=lambda got: float(got["four"]) == 0),
    WrongValues(
        "idle-over-useful",
        "That is idle time for each unit of useful time, (S - 1) / M. The share divides by all ticks.",
        2, like=lambda got: _near(got, 3 / 4, 3 / 16)),
    WrongValues(
        "one-tick-too-many",
        "Everything is done in M + S - 1 ticks: the last microbatch enters in tick M and has S - 1 more to go.",
        1, like=lambda got: _near(got, 4 / 8, 4 / 20)),
    WrongValues(
        "busy-not-idle", "That is the share of the time in which a stage works; the question is for the idle share.",
        1, like=lambda got: _near(got, 4 / 7, 16 / 19)),
)  # fmt: skip

PIPELINE = (
    LEFT,
    promise("out_specs says that a value is equal, but it still varies over the axis in the message. Only the last stage "
            "knows the loss: a psum, with zeros from all others, sends it to all. Each stage has its own gradient, with "
            "the sharding of W.", 3),
    WrongProgram(
        "carry-does-not-vary",
        "The loop's carry varies over other axes when it comes out than when it goes in. Perhaps it starts as zeros that "
        "are equal on every device: cast them to varying over stage before the loop.",
        3, error=CARRY),
    WrongProgram(
        "cast-again", "Something is cast that varies already, as weights do that in_specs cut: cast only what is the same "
        "on all devices.",
        3, error="Unsupported pcast"),
    WrongProgram(
        "branches-differ", "One branch varies over stage and the other does not: cast the constant, or use jnp.where.",
        3, error="(?s)branches must have equal output types.*pcast"),
    WrongProgram(
        "maximum-differentiated",
        "jax.grad has no rule for pmax. A psum over stage, with zeros from all but the last, gives the same number.",
        3, error="Differentiation rule for 'pmax'"),
    WrongCost(
        "weights-gathered",
        "Weights, or their gradients, are gathered. In a pipeline weights stay, and microbatches move.",
        1, when=lambda o: any(s[-2:] == o.case.inputs[0].shape[-2:] and s != o.case.inputs[1].shape[1:]
                              for s in moved(o, "all-gather"))),
    WrongValues(
        "stops-after-m-rounds", "The last S - 1 microbatches are missing in the loss. Perhaps the loop stops after M ticks, "
        "when these are still under way: it needs M + S - 1 ticks.",
        1, when=of.missing_end),
    WrongValues(
        "warm-up-counted",
        "In the first S - 1 ticks the last stage has nothing to compare yet; its outputs, made from zeros, must not count.",
        2, when=of.warming_up),
    WrongValues(
        "other-mean", "Loss and gradients are right but for one factor. Perhaps they are divided by another number: the "
        "loss is the mean over all microbatches, rows and columns.",
        1, when=of.scaled_loss),
    WrongValues(
        "every-stage-counted",
        "Every stage compared its output with the targets; only the last stage's output is the model's.",
        2, when=of.every_stage),
    WrongValues(
        "one-microbatch-missing",
        "One microbatch is missing in the loss: counted from zero, the first leaves the last stage in tick S - 1, the "
        "last in tick M + S - 2.",
        2, when=of.one_missing),
    WrongValues(
        "targets-of-the-tick",
        "In tick t the last stage finishes microbatch t - (S - 1); it was compared with the target of another one.",
        2, when=of.other_targets),
    WrongValues(
        "gradient-scaled",
        "The loss is right and all gradients are wrong by one factor. If it is the number of stages, or one over it, the "
        "sum over stage was differentiated once more, or averaged.",
        3, when=of.scaled_gradient),
    WrongValues(
        "gradient-wrong",
        "The loss is right and the gradient is not. jax.grad of the pipeline gives each stage the gradient of its own "
        "weight; it needs no further sum over stages.",
        3, when=of.wrong_gradient),
    WrongCost(
        "whole-batch-travels",
        "A hop carries as many numbers as the whole batch. Perhaps all microbatches go from stage to stage together, so "
        "one stage works at a time.",
        1, when=lambda o: "collective-permute" in o.kinds and of.hop_elements(o) >= _numbers(o)),
    WrongCost(
        "outputs-broadcast",
        "As many numbers as all outputs have are summed or gathered. Perhaps the outputs of the last stage are brought to "
        "every device; the loss is one number, and it is enough.",
        3, when=lambda o: any(math.prod(s) >= _numbers(o) for kind in ("all-reduce", "all-gather")
                              for s in moved(o, kind))),
)  # fmt: skip


def _numbers(o: Any) -> int:
    return int(math.prod(o.case.inputs[1].shape))


QUESTION = Question(
    "15.3", "GPipe in one loop", difficulty=5, minutes=100, optional=True,
    known_as="pipeline parallelism with GPipe's schedule (Huang and others, 2018)",
    items=(
        ValueItem("idle", {"P": 7}, predicted=True, misconceptions=BUBBLE, rtol=0.01,
                  key={"one": 3 / 4, "four": 3 / 7, "sixteen": 3 / 19, "a_tenth": 27}),
        ProgramItem("pipeline", {"V": 14, "S": 3.5, "H": 10.5}, oracle=of.piped, names=of.steps,
                    misconceptions=PIPELINE, manual=True,
                    rtol=1e-4, atol=1e-5, tolerance="float32 sums over microbatches, in another order",
                    slack=8, slack_reason="the loss may be summed apart from its gradient",
                    checks=(little_beside("hops", 16, "collective-permute"),),  # two sums of one number
                    cases=(of.microbatches(of.STAGES, 11, 4, 16), of.microbatches(of.FEW_STAGES, 7, 3, 12)),
                    draw=of.draw_microbatches),
    ),
    hints=(
        "Write the timetable of 3 stages and 4 microbatches on paper: one row per stage, one column per tick. How many "
        "columns are there? Which microbatch does stage s have in tick t?",
        "One loop over M + S - 1 ticks. Stage 0 takes microbatch t, the others what arrived. Each applies its weight and "
        "sends the output on. In tick t the last stage finishes microbatch t - (S - 1).",
        "Carry (arrived, total), both cast to varying. total grows by the squares where stage is the last and t >= S - 1. "
        "psum(total) / Y.size, and jax.value_and_grad around all of it.",
    ),
    explanation="All stages run one program, and a stage's number decides what it takes and whether its output counts. A "
                "microbatch moves by one stage per tick, so the last one leaves after M + S - 1 ticks. A stage works in M "
                "of them, so it is idle for (S - 1) / (M + S - 1) of the time: zero with one stage, and 3 / 7 with four "
                "stages and four microbatches.\n\nYou need not write the backward pass. The transpose of a permute is the "
                "permute backwards, and the transpose of the loop runs the ticks from the last to the first. So jax.grad of "
                "the pipeline is a pipeline. Each tick sends one microbatch each way, however wide the model is inside a "
                "stage. The backward pass costs memory: every tick's input is kept until its gradient comes.",
)  # fmt: skip
