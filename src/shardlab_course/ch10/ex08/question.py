"""Chapter 10, exercise 10.8: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardlab_course.ch10.ex08 import oracle as of
from shardlab_course.ch10.shared import LINE, PLANE, gathers
from shardlab_course.shared import agreement
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongValues

DRAWS = (
    WrongValues(
        "numbers-depend-on-the-mesh",
        "In automatic and explicit mode a key and a shape determine the numbers. The sharding says only which device "
        "makes which numbers.",
        1, like=lambda got: got["same_numbers"] is False),
    WrongValues(
        "numbers-are-sent", "Each device can compute the numbers of its own part from the key, so nothing is sent.",
        1, like=lambda got: float(got["collectives"]) > 0),
)  # fmt: skip

NOISY = (
    gathers("The array is gathered. Its noise can be made where its rows are."),
    WrongValues(
        "same-block-everywhere", "Each device drew its block from the same key, so all blocks have the same noise.",
        1, local=of.noisy_blocks),
    WrongValues(
        "depends-on-the-mesh",
        "Each device folded its number into the key. That is good noise, but on a mesh of another size it is different "
        "noise.",
        1, local=of.noisy_folded),
    WrongCost(
        "all-numbers-everywhere",
        "The noise is right. Perhaps a device makes more numbers than its part has: for example, it makes all of them and "
        "keeps its part.",
        2, when=lambda o: not o.collectives and _is_noisy(o)
        and o.placements[0].shard_shape[0] * dict(o.case.axes)["data"] == len(o.inputs[1])),
)  # fmt: skip


def _is_noisy(o: Any) -> bool:
    key, x = o.inputs
    return agreement.agrees(o, (of.noisy(key, x.astype(np.float64)),))


QUESTION = Question(
    "10.8", "Random numbers under sharding", difficulty=3, minutes=15, optional=True,
    items=(
        ValueItem("draws", {"P": 2}, predicted=True, misconceptions=DRAWS,
                  key={"same_numbers": True, "collectives": 0}),
        ProgramItem("noisy", {"V": 0.75, "S": 0.75, "H": 0.75, "F": 0.75}, oracle=of.noisy, misconceptions=NOISY,
                    cases=(of.random_rows(LINE, 16, 6), of.random_rows(PLANE, 24, 5)), draw=of.draw_random_rows),
    ),
    hints=(
        "A key is data. The same key and the same shape give the same numbers, on any device.",
        "In shard_map a device draws the shape of its block, so its numbers depend on how the array is cut. Which shape "
        "would give the numbers of one device?",
        "One line on global arrays: X plus jax.random.normal of the key and of X.shape. Under jit, the sharding of X "
        "decides which device makes which numbers.",
    ),
    explanation="JAX's default generator computes number i from the key and i alone, so each device makes the numbers of "
                "its own part and nothing moves. The numbers do not depend on the sharding, so a run on another mesh, or "
                "a test on one device, gives the same numbers up to rounding. In shard_map the generator gets the block's "
                "shape: a key that does not vary gives every device the same numbers.\n\nThat is right for weights that "
                "have to be equal, and wrong for dropout. Fold the index along data into the key, and the devices differ "
                "along data. They still agree along model, where copies must agree. The cost is that these numbers depend "
                "on the mesh's size. You can also make all numbers on every device and slice. That is right too, but each "
                "device does all of the arithmetic.",
)  # fmt: skip
