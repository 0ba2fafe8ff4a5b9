"""`show_collective`: who gives what to whom in the collectives of a program, from their groups and pairs."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Iterator
from html import escape

from shardlens.charts import drawing
from shardlens.charts.drawing import Picture, fill
from shardlens.programs.program import Program
from shardlens.reading.collectives import Collective
from shardlens.rings import ring_grid
from shardlens.rings.ring import KINDS, Schedule, schedule

MOST = 8
STEP, WIDE, TALL, FALL = 46.0, 32.0, 24.0, 64.0
SAYS = {
    "all-gather": "each gives its part to all others of its group, and all hold the whole",
    "reduce-scatter": "each gives every other device of its group a part of its terms, and holds the sum of one part",
    "all-reduce": "each gives its terms to its group, and all hold the whole sum",
    "all-to-all": "each gives a different block to every other device of its group",
    "ragged-all-to-all": "each gives blocks, whose sizes are known only at run time, to the others of its group",
    "collective-permute": "each source gives its whole block to its target",
    "collective-broadcast": "the first of each group gives its block to the others",
}


def show_collective(what: Collective | Program) -> Picture:
    """The picture of who gives what to whom.

    Args:
        what: a collective of a program, or a program: all its collectives that differ.
    Example:
        >>> show_collective(lens.Collective("all-reduce", (4,), "f32", 16, 16, ("x",), 2, groups=((0, 1),)))
        all-reduce of f32[4] over x, 1 time
          each gives its terms to its group, and all hold the whole sum
          0 1
    """
    found = [what] if isinstance(what, Collective) else list(_distinct(what))
    if not found:
        return Picture("no collectives: nothing moves", drawing.framed("no collectives: nothing moves"))
    lines = [line for c in found for line in text(c)]
    return Picture("\n".join(lines), drawing.framed("".join(map(_html, found))))


def title(c: Collective) -> str:
    """Kind, arrays, axes and how often, in one line."""
    counted = collections.Counter(f"{dtype}{drawing.brackets(shape)}" for dtype, shape in c.arrays or ((c.dtype, c.shape),))
    arrays = " + ".join(f"{count} \u00d7 " * (count > 1) + array for array, count in counted.items())
    over = f"over {', '.join(c.axes)}" if c.axes else f"in groups of {c.group_size}"
    times = "an unknown number of times" if c.executions is None else f"{c.executions} time{'s' * (c.executions != 1)}"
    return f"{c.kind} of {arrays} {over}, {times}"


def text(c: Collective) -> list[str]:
    """The picture in plain characters."""
    return [title(c), f"  {SAYS.get(c.kind, 'what it does is not known')}", f"  {_who(c)}"]


def _who(c: Collective) -> str:
    if c.kind == "collective-permute":
        shown = [f"{a}→{b}" for a, b in c.groups[:64]]
        return "  ".join(shown) + " ..." * (len(c.groups) > 64)
    shown = [" ".join(drawing.ids(group)) for group in c.groups[:32]]
    return " | ".join(shown) + " | ..." * (len(c.groups) > 32)


def _note(c: Collective, drawn: str) -> str:
    """All groups, and how the letters of the drawn one are to be read."""
    read = "; letters and numbers count the devices of the drawn group" if drawn else ""
    if drawn and c.kind in ("all-reduce", "reduce-scatter"):
        n = c.group_size
        read = f". A1: one device's term of chunk A; A{n}: chunk A, with the terms of all {n} devices added up"
    return f"groups: {_who(c)}{read}" if c.groups else ""


def _html(c: Collective) -> str:
    head = f'<div style="font-weight:600;margin-top:.6em">{escape(title(c))}</div>'
    says = f'<div style="font-size:13px;opacity:.9">{escape(SAYS.get(c.kind, "what it does is not known"))}</div>'
    drawn = _arrows(c) if c.kind == "collective-permute" else _group(c)
    groups = (
        "" if c.kind == "collective-permute" and drawn else f'<div style="font-size:13px">{escape(_note(c, drawn))}</div>'
    )
    label = escape(". ".join(text(c)))
    return f'{head}{says}<div role="img" aria-label="{label}" style="overflow-x:auto;margin:.3em 0">{drawn}</div>{groups}'


def _group(c: Collective) -> str:
    """What the devices of the first group hold before and after; nothing for kinds and sizes that have no such picture."""
    kind = c.kind.removeprefix("ragged-")
    if kind not in KINDS or not 2 <= c.group_size <= MOST:
        return ""
    steps: Schedule = schedule(kind, c.group_size)
    last = len(steps.steps) - 1
    quiet = dataclasses.replace(steps, steps=tuple(dataclasses.replace(step, hops=()) for step in steps.steps))
    return ring_grid.draw(quiet, {0: "before", last: "after"}, [str(d) for d in c.groups[0]])


def _arrows(c: Collective) -> str:
    """Devices above and below, and an arrow for each pair; nothing where there are too many."""
    devices = sorted({d for pair in c.groups for d in pair})
    if len(devices) > 2 * MOST:
        return ""
    place = {d: 34 + STEP / 2 + k * STEP for k, d in enumerate(devices)}
    parts = [_box(x, y, d) for d, x in place.items() for y in (TALL / 2 + 2, TALL / 2 + 2 + FALL)]
    parts += [_arrow(place[a], place[b]) for a, b in c.groups]
    look = 'fill="currentColor" text-anchor="start" font-size="11"'
    parts.append(
        f'<text x="0" y="{TALL / 2 + 6:g}" {look}>from</text><text x="0" y="{TALL / 2 + FALL + 6:g}" {look}>to</text>'
    )
    return drawing.figure(40 + STEP * len(devices), FALL + TALL + 4, "".join(parts))


def _box(x: float, y: float, device: int) -> str:
    return (
        f'<rect x="{x - WIDE / 2:g}" y="{y - TALL / 2:g}" width="{WIDE:g}" height="{TALL:g}" rx="4" fill="{fill(device)}" '
        f'stroke="currentColor" stroke-opacity=".5"/><text x="{x:g}" y="{y + 4.5:g}" font-size="13">{device}</text>'
    )


def _arrow(start: float, end: float) -> str:
    top, low = TALL + 3, FALL - 1
    length = math.hypot(end - start, low - top)
    back = 7 * (end - start) / length, 7 * (low - top) / length
    tips = [(end - back[0] + side * back[1] / 2, low - back[1] - side * back[0] / 2) for side in (1, -1)]
    head = f"M{tips[0][0]:.1f} {tips[0][1]:.1f}L{end:.1f} {low:g}L{tips[1][0]:.1f} {tips[1][1]:.1f}"
    path = f"M{start:.1f} {top:g}L{end:.1f} {low:g}{head}"
    return f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".8" stroke-width="1.4"/>'


def _distinct(program: Program) -> Iterator[Collective]:
    """Its collectives, those that differ in name and source only once."""
    seen = set()
    for c in program.collectives:
        key = (c.kind, c.arrays, c.groups, c.executions)
        if key not in seen:
            seen.add(key)
            yield c
