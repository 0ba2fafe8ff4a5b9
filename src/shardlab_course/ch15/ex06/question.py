"""Chapter 15, exercise 15.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import math
import pathlib
import re

import numpy as np

from shardlab_course.ch15.ex06 import oracle as of
from shardlab_course.ch15.ex06.designs import family
from shardlab_course.ch15.shared import sizes
from shardlab_judge.cases import Observed
from shardlab_judge.items.design import DesignItem
from shardlab_judge.question import Question, WrongCost


def _parts(o: Observed, k: int) -> int:
    """How many parts an array is cut into."""
    sizes = dict(o.case.axes)
    named = [name for entry in o.case.inputs[k].spec for name in (entry if isinstance(entry, tuple) else (entry,)) if name]
    return math.prod(sizes[name] for name in named)


HALVES = re.compile(r"\bb?f16\[")

DESIGN = (
    WrongCost(
        "times-the-devices",
        "The step is too long by a factor, the number of devices along an axis or in the mesh. Perhaps a summed gradient is "
        "summed again, or a mean over a block is used as the mean over the batch.",
        1, when=lambda o: any(_agrees(o, factor) for factor in sizes(o))),
    WrongCost(
        "uphill-or-short", "The step should be minus 0.1 times the gradient of the mean squared error. Yours is too short, "
        "or goes uphill.", 1,
        when=lambda o: any(_agrees(o, factor) for factor in (-1, 0.5, 0.25, 0.125))),
    WrongCost(
        "sixteen-bits",
        "There are numbers of 16 bits in your program. They halve the bytes, but their rounding shows in the new weights, "
        "which are compared in float32.",
        2, when=lambda o: _agrees(o, 1.0, 3e-2, 3e-2) and not _agrees(o, 1.0, 1e-4, 1e-5) and bool(HALVES.search(o.hlo))),
    WrongCost(
        "weights-whole", "A weight is whole on every device, and so is its new value: there is no room for that.",
        1, when=lambda o: 1 in (_parts(o, 2), _parts(o, 3)) and _right(o)),
    WrongCost(
        "hidden-units-travel",
        "Hidden units travel, and they are the largest array. Cut W1 by columns and W2 by rows over the same axes: then "
        "each device uses the hidden units that it made.",
        2, when=lambda o: _right(o) and _travels(o, (0, 0), (2, 1))),
    WrongCost(
        "data-parallel-in-disguise",
        "A matrix as large as a weight travels: the weight or its gradient. Which dimension could be cut so that "
        "activations travel instead, and are these fewer bytes?",
        2, when=lambda o: _right(o) and (_travels(o, (2, 0), (2, 1)) or _travels(o, (3, 0), (3, 1)))),
    WrongCost(
        "outputs-summed-everywhere",
        "Every device gets the summed outputs: an all-reduce, which costs a reduce-scatter and a gather. Each device "
        "needs only the sums of its own rows of Y: psum_scatter.",
        3, when=lambda o: _right(o) and _parts(o, 1) == sizes(o)[-1] and _travels(o, (1, 0), (1, 1), "all-reduce")),
    WrongCost(
        "activations-whole",
        "Several devices hold copies of X or Y. Both may be cut too, and gathered when they are used.",
        3, when=lambda o: _right(o) and min(_parts(o, 0), _parts(o, 1)) < sizes(o)[-1]),
)  # fmt: skip


def _right(o: Observed) -> bool:
    """Whether the outputs, if there are any, are right."""
    return not o.shards or _agrees(o, 1.0)


def _agrees(o: Observed, factor: float, rtol: float = 1e-3, atol: float = 1e-4) -> bool:
    """Whether the outputs are those of a step that is some times as long."""
    if not o.shards:
        return False
    wide = [x.astype(np.float64) for x in o.inputs]
    outputs = of.stepped_often(*wide, factor=factor)
    return all(
        np.allclose(block, right[index], rtol=rtol, atol=atol)
        for shards, right in zip(o.shards, outputs)
        for _, index, block in shards
    )


def _travels(o: Observed, one: tuple[int, int], two: tuple[int, int], kind: str = "") -> bool:
    """Whether a collective of this kind returns a matrix whose sides are those dimensions of inputs, either way round."""
    sides = sorted(o.case.inputs[k].shape[dimension] for k, dimension in (one, two))
    return any(kind in c.kind and any(sorted(shape) == sides for _, shape in c.arrays) for c in o.collectives)


QUESTION = Question(
    "15.6", "Free design", difficulty=5, minutes=180,
    items=(
        DesignItem("design", {"V": 10, "S": 10, "D": 40}, oracle=of.stepped, names=of.steps, misconceptions=DESIGN,
                   cases=(of.free(of.WIDE_XY, 96, 48, 128, 32), of.free(of.TALL_XY, 64, 40, 96, 24)),
                   arrays=("X", "Y", "W1", "W2"), kept=("W1", "W2"), designs=family(), room=2.5,
                   fronts=pathlib.Path(__file__).with_name("fronts.json")),
    ),
    hints=(
        "Add up the bytes of X, Y, W1 and W2. Which of them does every device need at some time, which never, and what "
        "would then have to travel instead?",
        "Cut hidden units over both axes: W1 by columns, W2 by rows. Then only activations travel. Cut X and Y by rows, "
        "too: what must the forward pass do, and what must the backward pass do?",
        "In shard_map: all_gather(x, ('x','y'), axis=0, tiled=True), tanh, product, psum_scatter over rows, squared error "
        "of own rows divided by Y.size; jax.grad of it needs no further sum.",
    ),
    explanation="Weights and hidden units are cut together over all devices, so no weight ever travels. Arrays of the "
                "activations' size travel: X is gathered, the outputs are scattered as they are summed, and their slopes "
                "are gathered on the way back, by the transpose of psum_scatter. With rows of X and Y cut too, no device "
                "holds a copy, so no design holds less. On 4 by 2 this design is a point of the front. (On 2 by 4 a mix of "
                "batch over x and hidden units over y moves a little less at the same memory.)\n\nIf you leave X whole, you "
                "save its gather and hold its copies: that is another point, on both meshes. If you cut hidden units over "
                "one axis and the batch over the other, you get a third, better with small weights and large batches. FSDP "
                "holds the same memory, and moves weights and gradients: far from the front here, and on it for another "
                "shape. There is no best design, only designs that no other beats.",
)  # fmt: skip
