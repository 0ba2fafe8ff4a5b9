"""Chapter 8, exercise 8.8: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math

from shardlab_course.shared.rings import devices
from shardlab_judge.cases import Observed


def gathered_as(o: Observed, rank: int) -> bool:
    """Whether something is gathered, and the output has as many entries as the sum, in another shape of this rank.

    Of rank 3 it has a dimension of devices; of rank 2 the sum's rows, by their number more or fewer.
    """
    shape, due, n = o.placements[0].shape, o.inputs[0].shape[1:], devices(o)
    other = len(shape) == rank and shape not in (due, (1, *due)) and math.prod(shape) == math.prod(due)
    fits = n in shape if rank == 3 else shape[0] in (n * due[0], due[0] // n)
    return "all-gather" in o.kinds and other and fits
