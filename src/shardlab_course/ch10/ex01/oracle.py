"""Chapter 10, exercise 10.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

from shardlab_course.ch10.shared import LINE, PLANE, RATE, descended, training
from shardlab_course.shared.agreement import agrees, wide
from shardlab_judge.cases import Case, Observed


def draw_training(rng: random.Random) -> Case:
    """Many samples and small weights, so that moving the batch costs more than moving the gradients.

    Devices divide the elements of all weights, so that a flat array of these need not be padded to be scattered. There are
    more outputs than devices along data, so that to forget the one is not to forget the other.
    """
    sizes = rng.randint(4, 7), 8, 16
    return training(rng.choice((LINE, PLANE)), 8 * rng.randint(10, 14), sizes)


def steps_too_long(o: Observed) -> bool:
    """Whether the weights moved n times as far as one step, for n devices along data."""
    return agrees(o, descended(rate=RATE * dict(o.case.axes)["data"])(*wide(o)))
