"""`show_ledger`: what each device has to hold under several plans, stacked part upon part."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from shardlab.drawing import facts, markup, ring_grid
from shardlab.drawing.draw import Picture
from shardlab.programs.chips import Chip, chip

FILLS = ("#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#FFAABB", "#DDDDDD")
SIGNS = "▓░▒█#."
WIDTH, TALL, ROW, TOP, CELLS = 520.0, 24.0, 62.0, 26.0, 48


def show_ledger(plans: Mapping[str, Mapping[str, float]], on: Chip | str | None = None) -> Picture:
    """Bars of bytes on one device, one bar for each plan, one segment for each part, all to one scale.

    Args:
        plans: bytes by part, by plan.
        on: a chip whose memory is marked.
    """
    found = chip(on) if isinstance(on, str) else on
    memory = float(found.hbm_bytes) if found else 0.0
    whole = max(memory, 1.0, *(sum(parts.values()) for parts in plans.values()))
    lines = [line for name, parts in plans.items() for line in text(name, parts, whole)]
    mark = f"{found.name}: {facts.size(int(memory))} of memory" if found else ""
    return Picture("\n".join([*lines, *[mark] * bool(mark)]), _html(plans, whole, memory, mark))


def text(name: str, parts: Mapping[str, float], whole: float) -> list[str]:
    """One plan's bar in plain characters, and its numbers."""
    bar = "".join(sign * round(CELLS * size / whole) for sign, size in zip(SIGNS, parts.values()))
    said = ", ".join(f"{sign} {part} {facts.size(int(size))}" for sign, (part, size) in zip(SIGNS, parts.items()))
    return [f"{name}: {facts.size(int(sum(parts.values())))} on each device", f"  |{bar.ljust(CELLS)}|", f"  {said}"]


def _html(plans: Mapping[str, Mapping[str, float]], whole: float, memory: float, mark: str) -> str:
    drawn = "".join(_bar(k, name, parts, whole) for k, (name, parts) in enumerate(plans.items()))
    if memory:
        x = WIDTH * memory / whole
        look = 'stroke="currentColor" stroke-width="2" stroke-dasharray="4 2"'
        drawn += f'<path d="M{x:.1f} {TOP - 4:g}V{ROW * len(plans) - 10:g}" {look}/>'
    said = ". ".join(line.strip() for name, parts in plans.items() for line in text(name, parts, whole) if "|" not in line)
    note = f'<div style="font-size:12.5px;opacity:.85">Dashed: {escape(mark)}.</div>' if mark else ""
    figure = ring_grid.figure(WIDTH + 8, ROW * len(plans), drawn, left=-2)
    return markup.framed(f'<div role="img" aria-label="{escape(said)}" style="overflow-x:auto">{figure}</div>{note}')


def _bar(row: int, name: str, parts: Mapping[str, float], whole: float) -> str:
    y, x = TOP + row * ROW - 6, 0.0
    shapes = [_words(0, y - 6, text(name, parts, whole)[0], 12.5)]
    for fill, size in zip(FILLS, parts.values()):
        wide = WIDTH * size / whole
        look = f'fill="{fill}" stroke="#444" stroke-width=".8"'
        shapes.append(f'<rect x="{x:.1f}" y="{y:g}" width="{wide:.1f}" height="{TALL:g}" {look}/>' * (size > 0))
        x += wide
    return "".join(shapes) + _legend(y + TALL + 12, parts)


def _legend(y: float, parts: Mapping[str, float]) -> str:
    """Each part's colour, name and bytes, below the bar."""
    shapes, x = [], 0.0
    for fill, (part, size) in zip(FILLS, parts.items()):
        said = f"{part} {facts.size(int(size))}"
        shapes += [f'<rect x="{x:g}" y="{y - 8:g}" width="9" height="9" fill="{fill}"/>', _words(x + 13, y, said, 11)]
        x += 26 + 6.2 * len(said)
    return "".join(shapes)


def _words(x: float, y: float, words: str, size: float) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="currentColor" text-anchor="start" font-size="{size:g}">{escape(words)}</text>'
