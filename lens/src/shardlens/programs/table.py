"""A program's collectives as a table: a row each, and below it what their bytes mean. No JAX here."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence

from shardlens.errors import LensError
from shardlens.reading.collectives import Collective, price, total_bytes
from shardlens.tables import Table, shares

COLUMNS = ("collective", "per device", "axes", "group", "line", "payload bytes", "times", "total bytes", "price")
SIDES = ("left", "left", "left", "right", "left", "right", "right", "right", "right")
MEANING = (
    "payload: bytes of the output; total: payload times rounds; price: the larger of input and output of a device,"
    " in bytes, times rounds, doubled for an all-reduce"
)


def collectives_table(
    found: Sequence[Collective], lines: tuple[str, ...], after: Table | None = None, width: int = 120
) -> Table:
    """A row for each collective, bars as long as their prices, and lines below.

    Where it would be wider than `width`, lines of Python stand below; where that does not help there are no bars; and where
    that does not either, payloads and rounds are left out, or, if there is one round only, rounds and totals.

    Example:
        >>> gather = lens.Collective("all-gather", (8,), "f32", 32, 8, ("x",), 4)
        >>> collectives_table([gather], lines=())
        collective  per device  axes  group  line  payload bytes  times  total bytes  price
        all-gather  f32[8]      x         4                   32      1           32     32  ██████████
    """
    rows = tuple(map(_cells, found))
    prices = [price((c,)) if c.executions is not None and not c.uncounted else 0 for c in found]
    table = Table(COLUMNS, SIDES, rows, lines, bars=shares(prices), after=after)
    if table.width <= width:
        return table
    places = collections.Counter((c.source, c.kind) for c in found if c.source)
    below = (f"{source}: {count} {kind}" for (source, kind), count in places.items())
    table = dataclasses.replace(table.without("line"), lines=(*lines, *below))
    if table.width <= width:
        return table
    table = dataclasses.replace(table, bars=())
    spare = ("times", "total bytes") if all(c.executions == 1 for c in found) else ("payload bytes", "times")
    return table if table.width <= width else table.without(*spare)


def summary(found: Sequence[Collective], where: str = "") -> list[str]:
    """The lines below such a table: how many there are, their bytes, and what these mean.

    Example:
        >>> gather = lens.Collective("all-gather", (8,), "f32", 32, 8, ("x",), 4)
        >>> summary([gather], "4 CPU devices")[0]
        'collectives: 1, payload 32 bytes a device, price 32, 4 CPU devices'
    """
    payload, moved = (or_unknown(measure, found) for measure in (total_bytes, price))
    total = f"collectives: {len(found)}, payload {payload} bytes a device, price {moved}"
    return [f"{total}, {where}" if where else total, MEANING]


def flops_text(flops: float | None) -> str:
    """FLOPs for a table."""
    return "? (data decides how often a loop runs)" if flops is None else f"{flops:,.0f}"


def or_unknown(measure: Callable[[Sequence[Collective]], int], collectives: Sequence[Collective]) -> str:
    """Bytes for a table; a question mark where a loop's number of rounds is not known, or what moves cannot be counted."""
    try:
        return f"{measure(collectives):,}"
    except LensError:
        return "?"


def _cells(c: Collective) -> tuple[str, ...]:
    """One row of the table, under `COLUMNS`."""
    times = "?" if c.executions is None else str(c.executions)
    payload = "?" if c.uncounted else f"{c.payload_bytes:,}"
    total = or_unknown(total_bytes, (c,))
    axes = ", ".join(c.axes) or "-"
    moved = or_unknown(price, (c,))
    # Which blocks a ragged exchange fills, data decides; no more than its buffers hold.
    moved = f"<= {moved}" if c.kind == "ragged-all-to-all" and moved != "?" else moved
    return (c.kind, shapes(c), axes, str(c.group_size), c.source, payload, times, total, moved)


def shapes(c: Collective) -> str:
    """Output arrays, equal ones counted: `4 f32[8,16] + f32[]`."""
    counts = collections.Counter(c.arrays or ((c.dtype, c.shape),))
    return " + ".join(f"{n if n > 1 else ''} {dtype}{_dims(shape)}".strip() for (dtype, shape), n in counts.items())


def _dims(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"
