"""The steps of a ring as a grid, one row a step and one column a device: for a terminal and as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from shardlens.charts import drawing
from shardlens.charts.drawing import INK, fill
from shardlens.rings.ring import LETTERS, PERMUTE, Chunk, Schedule

SLOT, GAP, LEFT, TOP = 19.0, 12.0, 62.0, 24.0
PAGE, LARGEST = 740.0, 1.6
"""Pixels that a ring may take of a page's width, and how many times as large as drawn it becomes at most."""
LETTER, STROKE = 0.62, 4.0
"""The width of a character as a part of its size, and the pixels that a heavy outline takes of a slot."""


def label(schedule: Schedule, chunk: Chunk) -> str:
    """The chunk's name: a letter, then the device that a block is for, or how many terms are in a sum so far.

    Example:
        >>> from shardlens.rings.ring import schedule
        >>> label(schedule("all-to-all", 4), Chunk(1, 3)), label(schedule("reduce-scatter", 4), Chunk(1, None, (0, 2)))
        ('B3', 'B2')
    """
    if chunk.part is not None:
        return f"{LETTERS[chunk.home]}{chunk.part}"
    return LETTERS[chunk.home] + (str(len(chunk.terms)) if chunk.terms else "")


def legend(schedule: Schedule) -> str:
    """What the labels mean, in one sentence."""
    if schedule.kind == PERMUTE:
        return "B: the block that device 1 had; no letter: nobody sent anything, and ppermute fills in zeros."
    if schedule.kind == "all-to-all":
        return "B3: the block for device 3, from the part that device 1 had."
    if schedule.kind == "all-gather":
        return "B: the part that device 1 had."
    return f"B3: chunk B, with the terms of 3 devices added up; with {schedule.n} it is finished."


def summary(schedule: Schedule) -> str:
    """Steps, and what crosses a link, in one sentence."""
    if schedule.kind == PERMUTE:
        empty = sum(not held for held in schedule.steps[-1].held)
        times = f"{schedule.hops} time{'s' * (schedule.hops != 1)}"
        end = f"{empty} of them hold{'s' * (empty == 1)} zeros" if empty else "every device holds a block"
        return f"ppermute on {schedule.n} devices, {times}; {end} in the end"
    n, ways = schedule.n, "both ways" if schedule.bidirectional else "one way"
    crossed = f"{schedule.busiest_link} chunk{'s' * (schedule.busiest_link != 1)}"
    head = f"{schedule.kind} on a ring of {n}, {ways}: {schedule.hops} step{'s' * (schedule.hops != 1)}"
    return f"{head}; {crossed} of 1/{schedule.fraction} of the array over the busiest link"


def text(schedule: Schedule) -> list[str]:
    """The grid in plain characters; what has just arrived is marked with a star."""
    rows = [["", *(f"device {d}" for d in range(schedule.n))]]
    for k in range(len(schedule.steps)):
        cells = [" ".join(_words(schedule, k, d)) for d in range(schedule.n)]
        rows.append([f"step {k}" if k else "start", *cells])
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return [summary(schedule), *lines, f"* just arrived or added to. {legend(schedule)}"]


def fresh(schedule: Schedule, step: int, device: int) -> frozenset[tuple[int, int | None]]:
    """Slots of the chunks that reach `device` in `step`."""
    return frozenset(hop.chunk.slot for hop in schedule.steps[step].hops if hop.target == device)


def draw(schedule: Schedule, rows: Mapping[int, str] | None = None, names: Sequence[str] = ()) -> str:
    """The `<svg>` element of the grid.

    Args:
        rows: steps to draw, with what stands beside each; all of them unless given.
        names: of the devices, where they are not 0, 1, 2 ...
    """
    across, down = slots(schedule.room)
    wide, tall = across * SLOT + GAP, down * SLOT + GAP
    shown = rows or {k: f"step {k}" if k else "start" for k in range(len(schedule.steps))}
    width, height = LEFT + schedule.n * wide, TOP + len(shown) * tall
    parts = []
    for d, name in enumerate(names or map(str, range(schedule.n))):
        parts.append(_word(LEFT + d * wide + (wide - GAP) / 2, TOP - 9, f"device {name}" if wide > 66 else name, "middle"))
    before = ""
    for y, (k, name) in zip((TOP + i * tall for i in range(len(shown))), shown.items()):
        phase = schedule.steps[k].phase
        if k > 1 and phase != before and rows is None:
            parts.append(_square(4, y - GAP / 2, width - GAP - 4, 0, 'stroke="currentColor" stroke-dasharray="2 3"'))
        before = phase
        parts.append(_word(LEFT - 12, y + down * SLOT / 2 + 4, name, "end"))
        parts += [cell(schedule, k, d, LEFT + d * wide, y) for d in range(schedule.n)]
    return drawing.figure(width, height, "".join(parts), scale=min(LARGEST, max(1.0, PAGE / width)))


def cell(schedule: Schedule, step: int, device: int, x: float, y: float) -> str:
    """What one device holds after one step: a frame with a place for each chunk."""
    across, down = slots(schedule.room)
    new = fresh(schedule, step, device)
    parts = [frame(schedule, x, y)]
    for place, chunk in placed(schedule, schedule.steps[step].held[device]):
        at = (x + place % across * SLOT, y + place // across * SLOT)
        parts.append(slot(schedule, chunk, *at, bold=chunk.slot in new))
    return "".join(parts)


def placed(schedule: Schedule, chunks: tuple[Chunk, ...]) -> list[tuple[int, Chunk]]:
    """Chunks with their places in a device's frame: a chunk's own, or in order where all n places are always taken."""
    return list(enumerate(chunks)) if schedule.kind in ("all-to-all", PERMUTE) else [(chunk.home, chunk) for chunk in chunks]


def slot(schedule: Schedule, chunk: Chunk, x: float, y: float, bold: bool = False) -> str:
    """One chunk: its colour as high as its sum is complete, its name, and a heavy outline if it is new."""
    side = SLOT - 3
    level = side * len(chunk.terms) / schedule.n if chunk.terms else side
    colour = fill(chunk.home)
    if level < side:
        parts = [_square(x + 1.5, y + 1.5, side, side, 'fill="#FFF" stroke="#777" stroke-width=".8"')]
        parts.append(_square(x + 1.5, y + 1.5 + side - level, side, level, f'fill="{colour}"'))
    else:
        parts = [_square(x + 1.5, y + 1.5, side, side, f'fill="{colour}"')]
    if bold:
        parts.append(_square(x + 0.5, y + 0.5, side + 2, side + 2, 'fill="none" stroke="currentColor" stroke-width="1.2"'))
        parts.append(_square(x + 2, y + 2, side - 1, side - 1, f'fill="none" stroke="{INK}" stroke-width="1.8"'))
    name = label(schedule, chunk)
    size = min(10.5, (side - STROKE * bold) / (LETTER * len(name)))
    look = ' font-weight="700"' * bold + f' font-size="{size:.3g}"'
    parts.append(f'<text x="{x + SLOT / 2:.4g}" y="{y + SLOT / 2 + 0.35 * size:.4g}"{look}>{name}</text>')
    return "".join(parts)


def frame(schedule: Schedule, x: float, y: float) -> str:
    """The outline of the places that a device has for chunks."""
    across, down = slots(schedule.room)
    edge = 'fill="none" stroke="currentColor" stroke-opacity=".28" stroke-linejoin="round"'
    return _square(x - 2, y - 2, across * SLOT + 4, down * SLOT + 4, edge)


def _square(x: float, y: float, wide: float, tall: float, look: str) -> str:
    return f'<path d="M{x:.4g} {y:.4g}h{wide:g}v{tall:.4g}h-{wide:g}z" {look}/>'


def _words(schedule: Schedule, step: int, device: int) -> list[str]:
    new = fresh(schedule, step, device)
    return [label(schedule, c) + "*" * (c.slot in new) for c in schedule.steps[step].held[device]] or ["0"]


def slots(n: int) -> tuple[int, int]:
    """Places across and down in a device's frame that has `n` of them."""
    across = n if n <= 3 else (n + 1) // 2 if n <= 8 else 4
    return across, -(-n // across)


def _word(x: float, y: float, word: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" fill="currentColor" '
        f'fill-opacity=".85">{escape(word)}</text>'
    )
