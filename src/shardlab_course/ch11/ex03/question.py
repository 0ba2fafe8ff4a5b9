"""Chapter 11, exercise 11.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch11.shared import GRADIENTS, LINE, PLANE, SUMS, TALL, draw_layers, layers, slopes, steps
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question

QUESTION = Question(
    "11.3", "FSDP by hand", difficulty=4, minutes=40,
    known_as="FSDP (Zhao and others, 2023), or stage 3 of ZeRO (Rajbhandari and others, 2020)",
    items=(
        ProgramItem("gradients", {"V": 4.5, "S": 2, "H": 4.5, "M": 2}, oracle=slopes, names=steps, misconceptions=GRADIENTS,
                    tolerance=SUMS, slack=8, slack_reason="the loss, one number, may be reduced beside the gradients",
                    cases=(layers(LINE, 88, (16, 24, 40, 8)), layers(PLANE, 44, (12, 20, 8, 4)),
                           layers(TALL, 22, (6, 10, 14, 2))),
                    draw=draw_layers(3), manual=True),
    ),
    hints=(
        "In the forward pass, a device needs all rows of a weight for one product. Which collective brings them, and what "
        "is its transpose?",
        "Gather inside the function that you differentiate, and differentiate with respect to the slices. Then the "
        "backward pass scatters.",
        "In the body, write a loss that gathers each w with all_gather(w, 'data', tiled=True) and returns pmean of the mean "
        "over the device's own samples. Then take jax.grad of this loss with respect to the tuple of slices.",
    ),
    explanation="The transpose of an all-gather, without to='invarying', is a reduce-scatter: each slice gets contributions "
                "back from n devices, and they are summed on the device that owns it. So you write FSDP's backward pass by "
                "differentiating its forward pass, and each gradient arrives in the rows that the device owns. L "
                "all-gathers and L reduce-scatters move twice the weights' bytes, as much as one all-reduce. XLA for CPU, "
                "left alone, sums the whole gradient for all devices and cuts it. On the line of eight that moves half as "
                "much again.\n\nThe loss must be the global mean before you differentiate it, as in chapter 10. Otherwise "
                "you get the gradient of the sum of n means. This program still keeps every gathered weight that the "
                "backward pass uses, until it has used it.",
)  # fmt: skip
