"""Chapter 8, exercise 8.8: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from shardlab_course.ch08.shared import rank
from shardlab_course.shared.rings import devices
from shardlab_judge.cases import Observed


def parts_stacked(o: Observed) -> bool:
    """Whether the output has a dimension more, as long as there are devices, and not that of a device's own block."""
    shape = o.placements[0].shape
    return rank(o) == 3 and shape[0] > 1 and devices(o) in shape
