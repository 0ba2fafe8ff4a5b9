"""Chapter 10, exercise 10.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shardlab_course.ch10.ex02 import oracle as of
from shardlab_course.ch10.shared import LINE, PLANE, SUMS, gathers, promise, times
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

GRADIENTS = (
    LEFT,
    promise("The gradients still vary, and out_specs promises equal copies: average them with pmean, or add them with psum "
            "if the loss is the mean over the devices already."),
    WrongValues(
        "pmap-habit",
        "The gradient was summed over the devices already, because the weights do not vary. Of equal copies a pmean changes "
        "nothing, and a psum makes n times as much: it is n times too large, and moves twice the bytes.",
        1, when=lambda o: _times(o, lambda n: n) and of.reduced_twice(o)),
    WrongValues(
        "sum-of-means",
        "This is the sum of n gradients, each of a mean over one device's samples; the mean over all samples has an n-th of "
        "it.",
        2, when=lambda o: _times(o, lambda n: n)),
    WrongValues(
        "summed-again", "The gradients were summed over the devices already; psum adds n equal copies of the sum.",
        1, when=lambda o: _times(o, lambda n: n * n)),
    WrongValues(
        "averaged-twice", "The mean over devices was taken twice: in the loss and once more outside, say, or twice outside.",
        2, when=lambda o: _times(o, lambda n: 1 / n)),
    WrongValues(
        "sum-over-outputs", "The loss is the mean over samples and outputs; this is the mean over samples only.",
        1, when=lambda o: _times(o, lambda n: o.inputs[1].shape[1])),
    WrongValues(
        "divided-by-a-constant",
        "That divides by 8, on this mesh too, where `data` has not eight devices: ask mesh.shape, or jax.lax.axis_size.",
        1, when=lambda o: dict(o.case.axes)["data"] != 8 and _times(o, lambda n: n / 8)),
    WrongValues(
        "one-left-out",
        "One gradient is right, and the other is that of a device's own samples: reduce both, say with jax.tree.map.",
        1, when=of.one_left_out),
    WrongValues(
        "never-reduced",
        "Each device returned the gradient of its own samples: with weights that vary, or with check_vma=False, nobody sums "
        "for you.",
        3, local=of.unbiased_own),
    WrongCost(
        "reduces-what-is-reduced",
        "Each gradient is reduced twice: say, once more when its copies are equal already.",
        3, when=lambda o: _times(o, lambda n: 1) and of.reduced_twice(o)),
    WrongCost(
        "a-number-beside",
        "A single number is reduced beside the gradients, as when check_vma=False hides from JAX that it need not be. Keep "
        "the check on.",
        1, when=lambda o: _times(o, lambda n: 1) and of.scalars_reduced(o)),
    gathers("Samples are brought together on every device; terms of the gradients are all that has to move."),
)  # fmt: skip


def _times(o: Any, factor: Callable[[int], float]) -> bool:
    return times(o, of.unbiased, factor)


QUESTION = Question(
    "10.2", "The gradient that is summed already", difficulty=3, minutes=45,
    items=(
        ProgramItem("gradients", {"V": 1, "S": 0.5, "H": 1}, oracle=of.unbiased,
                    misconceptions=GRADIENTS, tolerance=SUMS,
                    cases=(of.by_hand(LINE, 96, (6, 8, 3)), of.by_hand(PLANE, 88, (5, 8, 4))), draw=of.draw_by_hand,
                    manual=True),
    ),
    hints=(
        "Print jax.typeof of a gradient inside the body. Does it say {V:data}? If not, what must have happened to it?",
        "The sum over devices is there already; what is summed must be the right thing. Two mends: make the loss the global "
        "mean before you differentiate, or make the weights vary, so that nobody sums for you.",
        "Either jax.grad of a function that returns jax.lax.pmean(loss, 'data'). Or jax.lax.pcast(W, 'data', to='varying') "
        "for each weight, jax.grad, and pmean of the gradients.",
    ),
    explanation="A weight that does not vary is used on all devices, so its gradient is a sum over all devices: the "
                "transpose of the free cast to varying is a psum, and jax.grad puts it in. Of n local means that sum is "
                "n times the global mean's gradient, and a pmean after it averages n equal copies: still n times too "
                "large, and a second all-reduce is made. pmean inside the loss divides by n before anything is summed.\n\n"
                "Or cast the weights to varying yourself: then the gradients are the device's own, and averaging them is"
                " your business. Dividing by n is right as well. All three move the weights' bytes once. In pmap, which "
                "knew no such types, pmean(grad(loss)) was right; that is where the habit comes from.",
)  # fmt: skip
