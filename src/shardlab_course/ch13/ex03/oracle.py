"""Chapter 13, exercise 13.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random

from shardlab_course.ch13.shared import TALL, WIDE
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def cube(mesh: Axes, *shape: int) -> Case:
    """A case with a cube of pencils, whose transform shall be cut over its last two dimensions."""
    return Case(mesh, (Input(shape, ("x", "y"), "complex64"),), ((None, "x", "y"),))


def draw_cube(rng: random.Random) -> Case:
    """A mesh, and a cube that both axes may cut in every dimension."""
    return cube(rng.choice((WIDE, TALL)), 4 * rng.randint(1, 2), 4 * rng.randint(3, 4), 4 * rng.randint(1, 3))


def across_the_mesh(o: Observed) -> bool:
    """Whether an all-to-all joins all devices of a mesh with two axes."""
    return any(c.kind == "all-to-all" and c.group_size == math.prod(n for _, n in o.case.axes) for c in o.collectives)


def put_together_otherwise(o: Observed) -> bool:
    """Whether the output has as many entries as the input, and another shape of as many dimensions."""
    given, made = o.inputs[0].shape, o.placements[0].shape
    return made != given and len(made) == len(given) and math.prod(made) == math.prod(given)
