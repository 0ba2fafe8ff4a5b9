"""Chapter 7, exercise 7.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch07.shared import case, devices, each, shape
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def vector_case(mesh: Axes, length: int) -> Case:
    """A vector in pieces over x, to be whole everywhere."""
    return case(mesh, Input((length,), ("x",)), outputs=[()])


def own_blocks(o: Observed) -> bool:
    """Whether every device holds its own block, under the name of the whole."""
    parts = np.split(o.inputs[0], devices(o))
    return each(o, lambda d: parts[d]) and shape(o) == parts[0].shape
