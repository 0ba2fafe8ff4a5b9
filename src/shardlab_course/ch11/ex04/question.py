"""Chapter 11, exercise 11.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch11.ex04 import oracle as of
from shardlab_course.ch11.shared import GRADIENTS, LINE, PLANE, SUMS, count, draw_layers, layers, right, slopes
from shardlab_judge.cases import Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Check, Question, WrongCost, WrongValues

GATHERS = (
    WrongValues(
        "nothing-written-twice", "The exported program is what JAX wrote, and it gathers again where it recomputes.",
        1, like=4),
    WrongValues(
        "first-layer-spared",
        "Nothing needs the first weight backwards, but this checkpoint recomputes the layer's product and tanh, and "
        "these need it.",
        2, like=7),
)  # fmt: skip

_ELSEWHERE = ("all-reduce-and-slice", "batch-gathered", "gathered-twice", "gradients-whole", "whole-for-slices")

LEAN = (
    *(miss for miss in GRADIENTS if miss.id not in _ELSEWHERE),
    WrongCost(
        "no-checkpoint",
        "Nothing is computed again, so every gathered weight that the backward pass uses is kept for it. The compiled "
        "program for CPU need not have told you.",
        1, when=lambda o: right(o) and _barriers(o) == 0 and _gathers(o) <= _depth(o)),
    WrongCost(
        "checkpoint-without-effect",
        "There is a barrier, and yet no weight is gathered again: what all_gather returned is kept. Either the policy "
        "keeps it, named or before it gets a name, or the gather, or the product that needs it, stands outside of the "
        "checkpoint.",
        3, when=lambda o: right(o) and _barriers(o) > 0 and _gathers(o) <= _depth(o)),
    WrongCost(
        "some-gathered-again", "Some weights are gathered again, and others are kept: every layer is to give its own up.",
        1, when=lambda o: right(o) and _gathers(o) < 2 * _depth(o) - 1),
    WrongCost(
        "whole-loss",
        "One checkpoint is around all layers, so the backward pass begins with a whole forward pass, and that keeps every "
        "gathered weight, as without a checkpoint: put it around one layer.",
        1, when=lambda o: right(o) and _barriers(o) == 1 and _products_again(o)),
    WrongCost(
        "products-made-again",
        "The weights are gathered again, and products are computed again, too: a policy says what may be kept.",
        2, when=lambda o: right(o) and _products_again(o)),
    WrongCost(
        "merged-again",
        "There are gathers enough to bring each weight but the first twice, and no barrier in between. XLA merges equal "
        "ones, for CPU and for TPU, and keeps the first. jax.checkpoint sets barriers by itself, unless prevent_cse=False "
        "forbids it; by hand it is jax.lax.optimization_barrier.",
        3, when=lambda o: right(o) and _barriers(o) == 0),
)  # fmt: skip


def _depth(o: Observed) -> int:
    return len(o.inputs) - 2


def _barriers(o: Observed) -> int:
    return count(o, "optimization_barrier")


def _gathers(o: Observed) -> int:
    return count(o, "all_gather")


def _products_again(o: Observed) -> bool:
    return count(o, "dot_general") > 3 * _depth(o) - 1


MECHANISM = why(
    "What becomes of the gathered weights?",
    a="They are not kept: backward, each layer is computed again from its input and its slice of the weight.",
    b=Believed(
        "They are kept: `jax.checkpoint` gives up activations, and weights are none.",
        "weights-are-kept",
        "The exported program gathers more often with `jax.checkpoint` than without: whatever is computed "
        "inside of it is given up.",
    ),
    c=Believed(
        "They are not kept, and gathered again where the backward pass needs them, and only there.",
        "only-what-is-needed",
        "Backward nobody needs the first weight, and yet every weight is gathered twice in the exported "
        "program: all of a layer is computed again.",
    ),
)

QUESTION = Question(
    "11.4", "Weights that are not kept", difficulty=4, minutes=50,
    items=(
        ValueItem("gathers", {"P": 0.75}, predicted=True, key=8, misconceptions=GATHERS),
        MECHANISM,
        ProgramItem("lean", {"V": 0.5, "S": 0.5, "H": 0.5, "J": 1.5}, oracle=slopes,
                    misconceptions=LEAN, tolerance=SUMS,
                    slack=8, slack_reason="the loss, one number, may be reduced beside the gradients",
                    cases=(layers(LINE, 88, (16, 24, 40, 32, 8)), layers(PLANE, 44, (12, 20, 8, 16, 4))),
                    draw=draw_layers(4), checks=(Check("J", of.other_numbers),), manual=True),
    ),
    hints=(
        "jax.checkpoint says: do not keep what is inside, compute it again. Around what, so that backward gathers one layer "
        "at a time?",
        "Without a policy everything inside is computed again, products too. A policy decides for each operation whether "
        "its result is kept.",
        "policy=lambda primitive, *_, **__: primitive.name != 'all_gather', in jax.checkpoint around the function of one "
        "layer, with the gather inside.",
    ),
    explanation="What jax.grad keeps for the backward pass is decided before any compiler looks: a gathered weight is the "
                "result of an operation like any other, so it is kept, and FSDP holds a whole model again at the end of its "
                "forward pass. jax.checkpoint with a policy that does not keep gathers gives it up and gathers again behind "
                "a barrier, 2L - 1 times in all: the first layer's weight is not needed backwards, since nobody asks for "
                "the gradient of the batch.\n\nA policy that refuses a name given to the gathered weight does not help, "
                "because the unnamed result of the gather is kept in its place. And the program compiled for CPU says "
                "nothing: there, in JAX 0.10, the barriers are removed and equal gathers merged. Look where the decision is "
                "written.",
)  # fmt: skip
