"""Chapter 3, exercise 3.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab import Collective
from shardlab_course.ch03.ex03 import oracle as of
from shardlab_course.ch03.shared import gathers
from shardlab_judge.cases import Observed, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

BLOCK = (
    WrongCost(
        "more-constraints", "Constraints were added, and a weight is still gathered. Look for the constraint that puts H, "
        "or the weight itself, in another place. You can also remove a constraint.", 2,
        when=lambda o: gathers(o, of=1) and of.constraints(o) > 2),
    WrongValues(
        "relu-forgotten", "There is a relu between the two products. It sets negative hidden values to zero.", 1,
        like=lambda x, up, down: x @ up @ down),
    WrongCost(
        "batch-over-everything", "A whole weight is brought to every device. Perhaps a constraint asks for it, or moves H "
        "from where `X @ W1` leaves it: rows over data, hidden units over model.", 1,
        when=lambda o: gathers(o, of=1)),
    WrongCost(
        "none-means-whole", "H is gathered over `model`. Perhaps a constraint has None for its hidden units. None does not "
        "leave a dimension open: it asks for all of it on every device.", 2,
        when=lambda o: any(_gathered_over_model(c, _hidden(o)) for c in o.collectives)),
    WrongCost(
        "scattered-and-gathered", "The sum over model leaves the output where it belongs. If you cut it over model too, its "
        "rows have to be gathered again.", 1,
        when=lambda o: "all-reduce" in o.kinds and _gathered_over_model(o.collectives[-1], _output(o))),
)  # fmt: skip


def _gathered_over_model(one: Collective, nbytes: int) -> bool:
    return one.kind == "all-gather" and one.axes == ("model",) and one.payload_bytes == nbytes


def _output(o: Observed) -> int:
    """Bytes of this device's rows of the output."""
    return o.inputs[0].nbytes // dict(o.case.axes)["data"]


def _hidden(o: Observed) -> int:
    """Bytes of H with this device's rows, and all hidden units."""
    return o.inputs[0].itemsize * len(o.inputs[0]) * o.inputs[1].shape[1] // dict(o.case.axes)["data"]


MODELS = axes(data=2, model=4), axes(data=4, model=2)

QUESTION = Question(
    "3.3", "A constraint too many", difficulty=3, minutes=30,
    items=(
        ProgramItem("block", {"V": 2.25, "S": 2.25, "H": 4.5}, oracle=of.block, draw=of.draw_block, drawn=2,
                    misconceptions=BLOCK,
                    cases=(of.block_case(MODELS[0], 16, 32, 64), of.block_case(MODELS[1], 32, 48, 96)),
                    atol=1e-3, tolerance="float32 sums of up to 192 products of products, in another order"),
    ),
    hints=(
        "Look at what is gathered, and at its shape. Which array has this shape? Who needs it whole, and why?",
        "W1 cuts the hidden dimension over model. How is H cut if nobody asks for anything? Compare that with what the "
        "constraint asks for.",
        "Leave H alone, or ask for the cut that it has anyway: rows over data, hidden units over model. None would ask for "
        "whole rows.",
    ),
    explanation="X @ W1 leaves H with rows over data and hidden units over model, and H @ W2 sums over model. That takes "
                "one all-reduce of a device's rows of the output. The given constraint wants rows over both axes. Then each "
                "device needs all hidden units of its rows, so both weights are gathered, and more. If the constraint says "
                "P('data', None), H itself is gathered, because None means whole, not open. P.UNCONSTRAINED means open. "
                "P('data', 'model') is right, and so is a program without any constraint.\n\nOn the page XLA for CPU moves "
                "more than 2 million bytes for the given program, against 65,536 without the constraint. XLA for TPU "
                "gathers the same arrays, in bfloat16, and XLA for GPU in float32. None of these compilers asks whether the "
                "constraint is wise.",
)  # fmt: skip
