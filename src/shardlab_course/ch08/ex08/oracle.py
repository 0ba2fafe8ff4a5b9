"""Chapter 8, exercise 8.8: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math

from shardlab_judge.cases import Observed


def gathered_as(o: Observed, rank: int) -> bool:
    """Whether something is gathered, and the output has as many entries as the sum, in another shape of this rank."""
    shape, due = o.placements[0].shape, o.inputs[0].shape[1:]
    other = len(shape) == rank and shape not in (due, (1, *due)) and math.prod(shape) == math.prod(due)
    return "all-gather" in o.kinds and other
