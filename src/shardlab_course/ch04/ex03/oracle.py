"""Chapter 4, exercise 4.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from shardlab_course.ch04.shared import gathers
from shardlab_judge.cases import Observed


def gathers_only(o: Observed, operand: int) -> bool:
    """Whether this operand is brought together, the other one is not, and the product is turned afterwards."""
    return gathers(o, operand) and not gathers(o, 1 - operand) and len(o.collectives) > 1


def left_is_cheaper(o: Observed) -> bool:
    """Whether A is smaller than B and a device's part of the product together, which would be turned."""
    a, b = o.inputs
    return bool(a.nbytes < b.nbytes + a.itemsize * len(a) * b.shape[1] // dict(o.case.axes)["x"])
