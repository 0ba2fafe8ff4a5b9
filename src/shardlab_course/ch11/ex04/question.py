"""Chapter 11, exercise 11.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch11.ex04 import oracle as of
from shardlab_course.ch11.shared import GRADIENTS, LINE, PLANE, SUMS, count, draw_layers, layers, right, slopes, steps
from shardlab_course.shared.kinds import compilers
from shardlab_judge.cases import Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Check, Question, WrongCost, WrongValues

GATHERS = (
    WrongValues(
        "nothing-written-twice", "The exported program is what JAX wrote, and JAX gathers again where it recomputes.",
        1, like=4),
    WrongValues(
        "first-layer-spared",
        "The backward pass does not need the first weight. But this checkpoint recomputes the layer's product and tanh, and "
        "these need it.",
        2, like=7),
)  # fmt: skip

_ELSEWHERE = ("all-reduce-and-slice", "batch-gathered", "gathered-twice", "gradients-whole", "whole-for-slices")

LEAN = (
    *(miss for miss in GRADIENTS if miss.id not in _ELSEWHERE),
    WrongCost(
        "no-checkpoint",
        "No weight is gathered again, so every gathered weight that the backward pass uses is kept for it. The program "
        "compiled for CPU may not show this.",
        1, when=lambda o: right(o) and _barriers(o) == 0 and _gathers(o) <= _depth(o)),
    WrongCost(
        "checkpoint-without-effect",
        "There is a barrier, but no weight is gathered again. Perhaps the policy keeps the output of all_gather, by its "
        "name or before it gets one. Or the gather, or the product that needs it, is outside the checkpoint.",
        3, when=lambda o: right(o) and _barriers(o) > 0 and _gathers(o) <= _depth(o)),
    WrongCost(
        "some-gathered-again", "Some weights are gathered again, and others are kept. No layer should keep its gathered "
        "weight.",
        1, when=lambda o: right(o) and _gathers(o) < 2 * _depth(o) - 1),
    WrongCost(
        "whole-loss",
        "One checkpoint is around all layers. So the backward pass begins with a whole forward pass, which keeps every "
        "gathered weight, as without a checkpoint. Put a checkpoint around one layer.",
        1, when=lambda o: right(o) and _barriers(o) == 1 and _products_again(o)),
    WrongCost(
        "products-made-again",
        "The weights are gathered again, but there are more products than are needed. Perhaps some are computed again: a "
        "policy says what may be kept.",
        2, when=lambda o: right(o) and _products_again(o)),
    WrongCost(
        "merged-again",
        "The exported program has enough gathers to bring each weight but the first twice, and no barrier between them. "
        "XLA merges equal gathers, for CPU and for TPU, and keeps the first. jax.checkpoint sets barriers by itself, "
        "unless prevent_cse=False forbids it. By hand you use jax.lax.optimization_barrier.",
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
    "What happens to the gathered weights?",
    1,
    a="They are not kept: the backward pass computes each layer again from its input and its slice of the weight.",
    b=Believed(
        "They are kept: `jax.checkpoint` discards activations, and weights are not activations.",
        "weights-are-kept",
        "The exported program gathers more often with `jax.checkpoint` than without: nothing that is computed inside it "
        "is kept.",
    ),
    c=Believed(
        "They are not kept, and gathered again where the backward pass needs them, and only there.",
        "only-what-is-needed",
        "The backward pass does not need the first weight, and yet every weight is gathered twice in the exported "
        "program: all of a layer is computed again.",
    ),
)

QUESTION = Question(
    "11.4", "Weights that are not kept", difficulty=4, minutes=50,
    known_as="FSDP with gradient checkpointing (Zhao and others, 2023; Chen and others, 2016)",
    items=(
        ValueItem("gathers", {"P": 2.5}, predicted=True, key=8, misconceptions=GATHERS),
        compilers(0.5, "TPU", "GPU"),
        MECHANISM,
        ProgramItem("lean", {"V": 2, "S": 2, "H": 2, "J": 6}, oracle=slopes, names=steps,
                    misconceptions=LEAN, tolerance=SUMS,
                    slack=8, slack_reason="the loss, one number, may be reduced beside the gradients",
                    cases=(layers(LINE, 88, (16, 24, 40, 32, 8)), layers(PLANE, 44, (12, 20, 8, 16, 4))),
                    draw=draw_layers(4), checks=(Check("J", of.other_numbers),), manual=True),
    ),
    hints=(
        "jax.checkpoint says: do not keep what is inside, compute it again. What should be inside, so that the backward "
        "pass gathers one layer at a time?",
        "Without a policy everything inside is computed again, products too. A policy decides for each operation whether "
        "its result is kept.",
        "policy=lambda primitive, *_, **__: primitive.name != 'all_gather', in jax.checkpoint around the function of one "
        "layer, with the gather inside.",
    ),
    explanation="JAX decides what jax.grad keeps for the backward pass before any compiler runs. A gathered weight is the "
                "result of an operation like any other, so it is kept, and FSDP holds a whole model again at the end of its "
                "forward pass. With a policy that does not keep gathers, jax.checkpoint frees the weight and gathers it "
                "again behind a barrier, 2L - 1 times in all. The backward pass does not need the first layer's weight, "
                "because the gradient of the batch is not asked for.\n\nA policy that refuses a name given to the gathered "
                "weight does not help, because the unnamed result of the gather is kept in its place. And the program "
                "compiled for CPU shows nothing of this: there, in JAX 0.10, the barriers are removed and equal gathers "
                "merged. Look where the decision is written.",
)  # fmt: skip
