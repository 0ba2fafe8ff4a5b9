"""Chapter 8, exercise 8.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from shardlab_course.shared.rings import devices, hops
from shardlab_judge.cases import Observed


def both_all_round(o: Observed) -> bool:
    """Whether two rings of n - 1 hops run beside each other."""
    return o.depth == devices(o) - 1 and hops(o) == 2 * (devices(o) - 1)
