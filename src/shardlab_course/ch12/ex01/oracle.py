"""Chapter 12, exercise 12.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from shardlab_course.shared.rings import devices, hops
from shardlab_judge.cases import Observed


def all_round_twice(o: Observed) -> bool:
    """Whether there are two chains of permutes that go all the way round."""
    return o.depth == devices(o) - 1 and hops(o) == 2 * (devices(o) - 1)
