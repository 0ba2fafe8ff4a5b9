"""Chapter 6, exercise 6.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch06.ex05 import oracle as of
from shardlab_course.ch06.shared import AMBIGUOUS, ROWS, explicit, lies, program, right, weight_gathered
from shardlab_course.shared.sent import sent
from shardlab_judge.cases import Case, Input
from shardlab_judge.question import Question, WrongCost, WrongProgram
from shardlens import Axes

PORTED = (
    WrongProgram(
        "constraint-is-an-assert",
        "On Explicit axes with_sharding_constraint moves nothing: it compares. To move, use jax.reshard.",
        1, error="acts as an assert"),
    AMBIGUOUS,
    WrongCost(
        "constraint-deleted",
        "Every device has all rows of the output. Perhaps X was never cut, because its constraint was deleted with the "
        "error. Perhaps the program asks for the last product whole.", 2, when=lambda o: lies(o, ())),
    WrongCost(
        "resharded-at-the-end",
        "All rows of the output were added up on every device, and cut afterwards. Perhaps X was cut too late, or never. "
        "Perhaps the program asks for the last product whole.",
        2, when=lambda o: right(o, of.mlp) and sent(o, "all-reduce") == o.inputs[0].nbytes),
    WrongCost(
        "weights-made-whole",
        "A weight was brought whole to every device, so its product no longer divides the hidden units among devices. Leave "
        "the weights where they lie.",
        2, when=weight_gathered),
    WrongCost(
        "whole-batch-everywhere",
        "Every device did more work than its own rows need. Perhaps X was cut too late, or never.",
        3, when=of.all_rows_worked_on),
)  # fmt: skip


def ported_case(mesh: Axes, batch: int, width: int, hidden: int) -> Case:
    """X whole, the hidden units of both weights over y; the output by rows over x.

    Wide, so that a relu may be written with an operation more: that is less than a hundredth of a device's FLOPs.
    """
    width *= 8
    up, down = Input((width, hidden), (None, "y")), Input((hidden, width), ("y", None))
    return explicit(mesh, ROWS, Input((batch, width)), up, down)


QUESTION = Question(
    "6.5", "A constraint that constrains nothing", difficulty=3, minutes=25,
    items=(program("ported", of.mlp, ported_case, ((16, 24, 32), (24, 16, 48)), PORTED,
                   points={"V": 2, "S": 2, "H": 2, "F": 2}, atol=1e-3,
                   tolerance="float32 sums of up to 64 products of sums of 512, in another order"),),
    hints=(
        "Go through the three constraints in order. Which one asserts something true, which something false, and which is "
        "never reached?",
        "A constraint that was meant to move data becomes jax.reshard. A constraint that was meant to choose the layout "
        "of a product becomes out_sharding.",
        "Reshard X to rows over x. Keep the middle constraint, which now checks what you know. Give the second product "
        "out_sharding=P('x', None).",
    ),
    explanation="On Auto axes with_sharding_constraint tells XLA where a value must lie. On Explicit axes the type has "
                "decided already, so the same call only compares, and raises an AssertionError where they differ. The first "
                "constraint was meant to cut X. jax.reshard does that at no cost, because X was whole. The second one is "
                "true, because rows over x met columns over y, and may stay as a check. The third one asked where the "
                "product should lie, which is now an argument of the product.\n\nIf you delete all three, one error is "
                "left, and every device works on the whole batch. jax.sharding.auto_axes around the old function is right "
                "too, and leaves the question to XLA.",
)  # fmt: skip
