"""Chapter 10, exercise 10.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch10.ex07 import oracle as of
from shardlab_course.ch10.shared import PLANE, RATE, STEPS, TALL, descended, training
from shardlab_course.shared import agreement
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

NETWORK = (
    WrongProgram(
        "note-without-mesh",
        "A parameter with a note about its axes needs the mesh of these axes, and no mesh is set here. Give nnx.Param the "
        "mesh too.",
        3, error="mesh context or metadata is required"),
    WrongProgram(
        "mesh-set-inside",
        "The function is being traced, and jax.set_mesh does not work inside a trace. Give nnx.Param the mesh, or name it "
        "in a NamedSharding.",
        3, error="can only be used outside of"),
    WrongCost(
        "annotation-is-not-placement",
        "The weights came whole and stayed whole, so this is only data parallelism. An nnx.Param without a note and a "
        "mesh cuts nothing, and neither does a note that is not applied.",
        1, when=lambda o: of.is_whole(o, 0) and of.is_whole(o, 2) and "model" not in _axes(o)),
    WrongCost(
        "placed-at-the-end",
        "The weights are cut only after training: every step ran on whole weights and reduced whole gradients.",
        2, when=lambda o: not of.is_whole(o, 0) and "model" not in _axes(o) and "all-gather" not in o.kinds),
    WrongCost(
        "bias-left-whole",
        "W1 is cut and its bias is not. b1 has one element for each column of W1, so cut it with them.",
        1, when=lambda o: of.is_whole(o, 1) and not of.is_whole(o, 0) and "model" in _axes(o)),
    WrongValues(
        "sum-instead-of-mean",
        "The steps are far too long, or numbers are not finite, as after such steps. The loss is the mean over batch and "
        "outputs; with the sum each step is larger by the number of terms.",
        1, when=of.overflows, like=descended(steps=STEPS, summed=True)),
    WrongValues("one-step", "This is one step of five.", 1, like=descended()),
    WrongValues(
        "another-number-of-steps", "The question asks for five steps. These weights are those after four or six.",
        1, when=lambda o: any(_after(o, steps) for steps in (4, 6))),
    WrongValues(
        "uphill", "The weights moved along the gradient. Subtract the gradient.",
        1, like=descended(rate=-RATE, steps=STEPS)),
    WrongCost(
        "hidden-units-gathered",
        "At least as many all-gathers run as there are steps, perhaps of the hidden units or the weights. Leave these cut "
        "over model. Then only the outputs have to be summed.",
        2, when=of.gathers_in_steps),
)  # fmt: skip


def _axes(o: Any) -> set[str]:
    return {axis for c in o.collectives for axis in c.axes}


def _after(o: Any, steps: int) -> bool:
    return agreement.agrees(o, descended(steps=steps)(*agreement.wide(o)))


QUESTION = Question(
    "10.7", "A Flax network, over data and model", difficulty=4, minutes=45, optional=True,
    items=(
        ProgramItem("train", {"V": 5, "S": 5, "H": 5}, oracle=descended(steps=STEPS), misconceptions=NETWORK,
                    tolerance="five steps of float32 sums, in another order",
                    cases=(training(PLANE, 32, (12, 16, 6), of.NETWORK), training(TALL, 24, (10, 24, 5), of.NETWORK)),
                    draw=of.draw_network),
    ),
    hints=(
        "The weights arrive whole. What in your program cuts them, and does it do so before the first step?",
        "Cut the columns of W1 together with b1, and the rows of W2, as in chapter 4's case 3. Then only the outputs are "
        "summed over model. The gradients of a device's part are summed over data.",
        "nnx.Param(W1, out_sharding=(None, 'model'), mesh=mesh) cuts at once, and so does with_sharding_constraint. Then, "
        "five times, call nnx.grad(loss)(model, X, Y) and update with nnx.update, or with nnx.Optimizer and optax.sgd(0.1).",
    ),
    explanation="An nnx.Param holds an array and notes about it. The notes cut something only where code applies them. "
                "Given out_sharding and a mesh, nnx.Param applies them itself, by a sharding constraint. With "
                "eager_sharding=False it only remembers them. With weights cut over model, each step sums the outputs of "
                "one data group's samples over model. It sums the gradients of a device's own part of the weights over "
                "data.\n\nWith 12, 16 and 6 units and 32 samples on 4 by 2, the price is 8240 bytes in five steps, against "
                "12400 for data parallelism alone, and a device has about half of the arithmetic and of the weights. Nobody "
                "wrote a collective. The same class with other specs is another parallelism.",
)  # fmt: skip
