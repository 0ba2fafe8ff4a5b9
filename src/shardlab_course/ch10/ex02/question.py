"""Chapter 10, exercise 10.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shardlab_course.ch10.ex02 import oracle as of
from shardlab_course.ch10.shared import LINE, PLANE, SUMS, gathers, times
from shardlab_course.shared.manual import LEFT, promise
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

GRADIENTS = (
    LEFT,
    promise("The gradients still vary, and out_specs promises equal copies. Average them with pmean, or add them with "
            "psum if the loss is already the mean over the devices."),
    WrongValues(
        "pmap-habit",
        "The gradient is n times too large, and it was reduced twice. Perhaps JAX had already summed it, because the "
        "weights do not vary: a pmean of equal copies changes nothing, and a psum makes them n times larger.",
        1, when=lambda o: _times(o, lambda n: n) and of.reduced_twice(o)),
    WrongValues(
        "sum-of-means",
        "The gradient is n times too large. Perhaps n gradients were added, each of the mean over one device's samples: the "
        "gradient of the mean over all samples is an n-th of their sum.",
        2, when=lambda o: _times(o, lambda n: n)),
    WrongValues(
        "summed-again", "The gradients are n * n times too large. Perhaps they were already summed over the devices, and "
        "psum added n equal copies of the sum.",
        1, when=lambda o: _times(o, lambda n: n * n)),
    WrongValues(
        "averaged-twice", "The gradients are an n-th of the right ones. Perhaps the mean over devices was taken twice: once "
        "in the loss and once outside it, or twice outside.",
        2, when=lambda o: _times(o, lambda n: 1 / n)),
    WrongValues(
        "sum-over-outputs", "The gradients are too large by the number of outputs. The loss is the mean over samples and "
        "outputs.",
        1, when=lambda o: _times(o, lambda n: o.inputs[1].shape[1])),
    WrongValues(
        "divided-by-a-constant",
        "The gradients are too small by the same factor as if they were divided by 8. Perhaps they are: take the number of "
        "devices along `data` from mesh.shape or jax.lax.axis_size.",
        1, when=lambda o: dict(o.case.axes)["data"] != 8 and _times(o, lambda n: n / 8)),
    WrongValues(
        "one-left-out",
        "One gradient is right. The other is that of a device's own samples. Reduce both, for example with jax.tree.map.",
        1, when=of.one_left_out),
    WrongValues(
        "never-reduced",
        "Each device returned the gradient of its own samples. With weights that vary, or with check_vma=False, JAX "
        "inserts no sum.",
        3, local=of.unbiased_own),
    WrongCost(
        "reduces-what-is-reduced",
        "Each gradient is reduced twice, for example once more when its copies are already equal.",
        3, when=lambda o: _times(o, lambda n: 1) and of.reduced_twice(o)),
    WrongCost(
        "a-number-beside",
        "A single number is reduced in addition to the gradients. Perhaps check_vma=False hides from JAX that it is "
        "unnecessary: keep the check on.",
        1, when=lambda o: _times(o, lambda n: 1) and of.scalars_reduced(o)),
    gathers("Every device receives all samples. Only terms of the gradients have to move."),
)  # fmt: skip


def _times(o: Any, factor: Callable[[int], float]) -> bool:
    return times(o, of.unbiased, factor)


QUESTION = Question(
    "10.2", "The gradient that is summed already", difficulty=3, minutes=45,
    items=(
        ProgramItem("gradients", {"V": 5.5, "S": 3, "H": 5.5}, oracle=of.unbiased, names=of.steps,
                    misconceptions=GRADIENTS, tolerance=SUMS,
                    cases=(of.by_hand(LINE, 96, (6, 8, 3)), of.by_hand(PLANE, 88, (5, 8, 4))), draw=of.draw_by_hand,
                    manual=True),
    ),
    hints=(
        "Print jax.typeof of a gradient inside the body. Does it say {V:data}? If not, what must have happened to it?",
        "JAX already sums over the devices, so the right thing must be summed. Either make the loss the global mean "
        "before you differentiate, or make the weights vary, so that JAX inserts no sum.",
        "Either take jax.grad of a function that returns jax.lax.pmean(loss, 'data'). Or apply jax.lax.pcast(W, 'data', "
        "to='varying') to each weight, take jax.grad, and average the gradients with pmean.",
    ),
    explanation="All devices use a weight that does not vary, so its gradient is a sum over all devices: the transpose of "
                "the free cast to varying is a psum, and jax.grad inserts it. For n local means this sum is n times the "
                "global mean's gradient. A pmean after it averages n equal copies, so the gradient is still n times too "
                "large, and there is a second all-reduce. A pmean inside the loss divides by n before anything is "
                "summed.\n\nOr you cast the weights to varying yourself. Then the gradients are the device's own, and you "
                "average them. A third way is to divide the sum by n. All three move the weights' bytes once. In pmap, "
                "which did not have these types, pmean(grad(loss)) was right. The habit comes from pmap.",
)  # fmt: skip
