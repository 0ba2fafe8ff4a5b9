"""What all readers of a compiled program say, held against the second reader."""

from __future__ import annotations

import collections
from typing import Any

from second_reader import Reading, Seen, second_reading
from shardlens.charts.timeline import timelines
from shardlens.reading.collectives import Collective, price, read_collectives
from shardlens.reading.depth import depth
from shardlens.reading.hlo import parse_hlo
from shardlens.reading.overlap import overlaps


def agree(text: str) -> tuple[tuple[Collective, ...], Reading]:
    """What both readers found, after `inspect`'s collectives, depth, overlap and schedule are held against the second."""
    mine, other = read_collectives(text), second_reading(text, parse_hlo(text).devices)
    names = {c.name for c in mine}
    assert collections.Counter(map(_facts, mine)) == collections.Counter(
        (s.kind, _name(s, text), s.into, s.out, _sets(s.kind, s.groups), runs) for s, runs in other.runs.items()
    )
    assert (depth(text, names) if mine else 0) == other.depth
    runs = {_name(seen, text): count for seen, count in other.runs.items() if count != 0}
    found = overlaps(text, names)
    assert (found is None) if None in runs.values() else collections.Counter(o.name for o in found or ()) == runs
    if "is_scheduled=true" in text.split("\n", 1)[0]:
        bars = (bar.name for timeline in timelines(text) for bar in timeline.bars if bar.kind == "collective")
        assert collections.Counter(bars) == collections.Counter(seen.site for seen in other.runs)
    known = {seen: count for seen, count in other.runs.items() if count is not None}
    if len(known) == len(other.runs):
        twice = {"all-reduce": 2}
        assert price(mine) == sum(max(s.into, s.out) * n * twice.get(s.kind, 1) for s, n in known.items())
    return mine, other


def _name(seen: Seen, text: str) -> str:
    """Its name in the text: XLA for GPU writes `reduce-scatter-start` for a start that calls a reduce-scatter."""
    return seen.name if f"%{seen.name} =" in text else seen.site


def _facts(c: Collective) -> tuple[Any, ...]:
    return c.kind, c.name, c.operand_bytes, c.payload_bytes, _sets(c.kind, c.groups), c.executions


def _sets(kind: str, groups: Any) -> frozenset[Any]:
    """Groups in no order; the pairs of a permute have a direction."""
    return frozenset(groups if kind == "collective-permute" else (tuple(sorted(group)) for group in groups))
