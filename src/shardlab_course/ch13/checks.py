"""Chapter 13's checks: what question 13.6 looks at besides, the largest array inside a program."""

from __future__ import annotations

import math
from collections.abc import Iterator

from shardlab_judge.cases import Case, Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.verdict import Finding


def share(case: Case) -> int:
    """Twice the bytes that one device has of the first input."""
    return 2 * 4 * math.prod(case.inputs[0].shape) // dict(case.axes)["x"]


def too_wide(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """An array inside the program that is larger than `share`."""
    if o.largest > share(o.case):
        what, most = "On its way your program holds an array that is too large for one device.", share(o.case)
        yield Finding(item.name, "M", what, expected=f"no array above {most} B on a device", got=f"one of {o.largest} B")
