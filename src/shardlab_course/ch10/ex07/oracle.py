"""Chapter 10, exercise 10.7: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

import numpy as np

from shardlab_course.ch10.shared import PLANE, STEPS, TALL, training
from shardlab_judge.cases import Case, Observed
from shardlens import Spec

NETWORK: tuple[Spec, ...] = ((None, "model"), ("model",), ("model", None), ())


def draw_network(rng: random.Random) -> Case:
    """Hidden units that every model axis divides."""
    sizes = rng.randint(5, 12), 8 * rng.randint(2, 4), rng.randint(3, 7)
    return training(rng.choice((PLANE, TALL)), 8 * rng.randint(3, 5), sizes, NETWORK)


def gathers_in_steps(o: Observed) -> bool:
    """Whether all-gathers run in every step, and not only once."""
    return sum(c.executions or 0 for c in o.collectives if c.kind == "all-gather") >= STEPS


def overflows(o: Observed) -> bool:
    """Whether some numbers are not finite, as after steps that are too long."""
    return not all(np.isfinite(block).all() for shards in o.shards for _, _, block in shards)


def is_whole(o: Observed, output: int) -> bool:
    """Whether every device holds all of an output."""
    placement = o.placements[output]
    return placement.shard_shape == placement.shape
