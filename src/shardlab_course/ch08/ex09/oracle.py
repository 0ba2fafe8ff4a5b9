"""Chapter 8, exercise 8.9: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

import numpy as np

from shardlab_course.shared.rings import devices, each
from shardlab_judge.cases import Observed


def cube(rng: random.Random, n: int) -> tuple[int, int, int]:
    """Tokens and heads that n devices can share, and more numbers for each."""
    return n * rng.randint(2, 5), n * rng.randint(1, 2), rng.randint(3, 9)


def blocks_stay(o: Observed) -> bool:
    """Whether nothing moves, and every device still has its block."""
    parts = np.split(o.inputs[0], devices(o), axis=o.case.inputs[0].spec.index("x"))
    return not o.collectives and each(o, lambda d: parts[d])


def split_again(o: Observed) -> bool:
    """Whether the dimension that was cut already is cut once more, and the other one is longer."""
    cut, n = o.case.inputs[0].spec.index("x"), devices(o)
    return o.placements[0].shard_shape[cut] * n * n == o.inputs[0].shape[cut]


def right_blocks(o: Observed) -> bool:
    """Whether every device holds what it should, and the global shape is another."""
    assert (spec := o.case.outputs[0]) is not None
    parts = np.split(o.inputs[0], devices(o), axis=spec.index("x"))
    return o.placements[0].shape != o.inputs[0].shape and each(o, lambda d: parts[d])
