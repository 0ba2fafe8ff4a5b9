"""How much a program's collectives carry: a cause that speaks of an array is told where as much as a part of it moves."""

from __future__ import annotations

import math
from collections.abc import Iterator

from shardlab_judge.cases import Observed
from shardlab_judge.findings import describe
from shardlab_judge.question import Check, Item
from shardlab_judge.verdict import Finding
from shardlens import price


def sent(o: Observed, *kinds: str) -> int:
    """Payload bytes of the largest collective of these kinds; 0 where there is none."""
    return max((c.payload_bytes for c in o.collectives if c.kind in kinds), default=0)


def part(o: Observed, number: int = 0) -> int:
    """Bytes of one device's part of an argument that is cut over all devices."""
    return int(o.inputs[number].nbytes) // math.prod(size for _, size in o.case.axes)


def sends_a_part(o: Observed, *kinds: str, number: int = 0) -> bool:
    """Whether some collective of these kinds carries at least that part of an argument."""
    return sent(o, *kinds) >= max(1, part(o, number))


def little_beside(what: str, most: int, *kinds: str) -> Check:
    """A check that all but these kinds carry at most so many bytes: what a cheaper way saves is no room for a gather."""

    def find(item: Item, o: Observed) -> Iterator[Finding]:
        others = [c for c in o.collectives if c.kind not in kinds]
        if (carried := price(others)) > most:
            got = f"{carried:,} B a device: {describe(others)}"
            said = f"Beside its {what} your program moves more than it needs to."
            yield Finding(item.name, "H", said, f"at most {most:,} B a device beside them", got)

    return Check("H", find)
