"""Chapter 10, exercise 10.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch10.ex06 import oracle as of
from shardlab_course.ch10.shared import PLANE, gathers
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

FACTOR_VARIES = (
    "The factor varies over model, or JAX cannot know that it does not: it was computed from a device's own part, or from "
    "an all_gather without to='invarying'. A psum of the squares is the same on all devices. Another possible cause is that "
    "out_specs promises equal copies of a gradient that is cut."
)
CLIP = (
    WrongValues("clip-by-local-norm", FACTOR_VARIES, 1, local=of.clipped_own),
    WrongProgram("clip-by-local-norm", FACTOR_VARIES, 1, error="can't be statically inferred"),
    WrongValues(
        "copies-counted",
        "The norm is too large. Perhaps copies are counted: psum adds what every device has, so the squares of an array "
        "that is whole on n devices count n times.",
        2, when=of.copies_counted),
    WrongValues(
        "norms-added", "Norms do not add, squares do. Sum the squares over the devices, then take the root.",
        2, when=of.norms_added),
    WrongValues(
        "array-by-array",
        "Each array was clipped by its own norm. Global-norm clipping has one norm and one factor for all.",
        1, like=of.clipped_apart),
    WrongValues(
        "not-clipped",
        "The arrays came back unchanged, though their norm is above the limit. Perhaps the norm is too small, or jnp.clip "
        "was used, which limits single elements.",
        1, like=lambda *arrays: arrays),
    WrongValues("root-forgotten", "The norm is the root of the sum of squares.", 1, like=of.clipped_by_square),
    WrongCost(
        "squares-averaged", "The norm is too small. Perhaps pmean divided a sum of squares by the number of devices: "
        "squares of parts have to be added, by psum.",
        2, when=of.squares_averaged),
    WrongValues(
        "always-scaled", "Gradients whose norm is below the limit stay unchanged: the factor is at most 1.",
        1, like=of.always_scaled),
    WrongValues(
        "whole-array-forgotten", "The gradient that is not cut belongs to the norm too.", 1,
        like=of.clipped_without_last),
    gathers("A gradient is gathered, perhaps to take its norm. Each device can square and sum its part, and then one number "
            "moves."),
)  # fmt: skip

QUESTION = Question(
    "10.6", "One norm for all", difficulty=3, minutes=30, optional=True,
    known_as="gradient clipping by the global norm (Pascanu and others, 2012)",
    items=(
        ProgramItem("clip", {"V": 3.5, "S": 2, "H": 3.5}, oracle=of.clipped, misconceptions=CLIP, most=1,
                    slack=8, slack_reason="each of the two arrays that are cut may have a sum of its own",
                    cases=(of.clipping(of.MODEL_LINE, 32, 11, 5, 24, 170), of.clipping(PLANE, 8, 3, 2, 8, 5)),
                    draw=of.draw_clipping),
    ),
    hints=(
        "The norm of three arrays is the root of a sum over all their elements. Which of these elements does a device "
        "have, and how many devices have the same ones?",
        "Squares add over devices, norms do not. Sum the squares of the cut arrays over model. The squares of the whole "
        "array are complete on every device.",
        "total = psum of the squares of A and B over model, plus the squares of C; factor = minimum(1, 12 / sqrt(total)). "
        "On global arrays under jit, plain sums are enough.",
    ),
    explanation="Clipping keeps the direction, so there can be only one factor, and every device must know it. This takes "
                "one number: each device squares and sums what it holds, and the scalars are summed over model. Arrays that "
                "are whole on every device are counted once, outside the psum. Inside it they would be counted n times, "
                "because psum does not ask whether its terms are copies.\n\nUnder jit all this is done for you: jnp.sum "
                "means the sum of the global array. There one all-reduce is enough: XLA for CPU sends both scalars in it, "
                "XLA for TPU their sum. Clipping by local norms gives each device a different factor. With the check on, "
                "JAX detects that the whole array would no longer be the same everywhere.",
)  # fmt: skip
