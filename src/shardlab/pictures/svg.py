"""One grid of blocks as SVG that needs nothing from its page: own colours for blocks, the page's colour for the rest."""

from __future__ import annotations

import dataclasses
import itertools
import math
from html import escape

from shardlab.pictures.picture import Block, Panel
from shardlens import Slice, drawing

CHARACTER, LINE = 8.5, 19.0
TICK = 6.7
PAD = 14.0
FOOT = 8.0


@dataclasses.dataclass(frozen=True)
class Layout:
    """Sizes of a panel in pixels: of each row and column, and of the margins that hold the ticks.

    `lines` holds the text of each block.
    """

    rows: list[float]
    columns: list[float]
    left: float
    top: float
    lines: list[list[list[str]]]


@dataclasses.dataclass(frozen=True)
class Box:
    """A rectangle in pixels."""

    x: float
    y: float
    wide: float
    tall: float

    def within(self, gap: float) -> Box:
        """The rectangle `gap` pixels inside this one."""
        return Box(self.x + gap, self.y + gap, self.wide - 2 * gap, self.tall - 2 * gap)

    def drawn(self, style: str) -> str:
        """The `<rect>` element."""
        x, y, wide, tall = (f"{v:.1f}" for v in dataclasses.astuple(self))
        return f'<rect x="{x}" y="{y}" width="{wide}" height="{tall}" rx="3" {style}/>'


def layout(panel: Panel, side: float) -> Layout:
    """Sizes in proportion to the slices, the longer side `side` pixels, with room in each block for its device ids."""
    tall, wide = _extent(panel.rows), _extent(panel.columns)
    ratio = min(max(tall / wide, 0.35), 2.0) if panel.rows else 0.0
    width, height = (side, side * ratio) if ratio <= 1 else (side / ratio, side)
    columns = _shares(panel.columns, width if panel.columns else 0.45 * side)
    lines = [
        [_wrapped(block, columns[j], (i, j) in panel.differs) for j, block in enumerate(row)]
        for i, row in enumerate(panel.blocks)
    ]
    ticks = [len(f"{a}:{b}") * TICK + 8 for a, b in panel.columns] or [0.0]
    widths = [max(tick, *(CHARACTER * max(map(len, row[j])) + PAD for row in lines)) for j, tick in enumerate(ticks)]
    feet = [FOOT * any(len(block) > 1 for block in row) for row in panel.blocks]
    heights = [max(LINE * len(block) for block in row) + PAD + foot for row, foot in zip(lines, feet)]
    left = max((len(f"{a}:{b}") * TICK + 10 for a, b in panel.rows), default=3.0)
    top = 20.0 if panel.columns else 3.0
    return Layout(_stretched(_shares(panel.rows, height), heights), _stretched(columns, widths), left, top, lines)


def extent(panel: Panel, side: float) -> tuple[float, float]:
    """Width and height of a panel's blocks in pixels."""
    sizes = layout(panel, side)
    return sum(sizes.columns), sum(sizes.rows)


def draw(panel: Panel, side: float = 250.0, least: tuple[float, float] = (0.0, 0.0)) -> str:
    """The `<svg>` element of a panel, its blocks stretched to `least` pixels where they would take less."""
    sizes = layout(panel, side)
    for shares, pixels in zip((sizes.columns, sizes.rows), least):
        factor = max(1.0, pixels / sum(shares))
        shares[:] = [factor * share for share in shares]
    lefts = list(itertools.accumulate(sizes.columns, initial=sizes.left))
    tops = list(itertools.accumulate(sizes.rows, initial=sizes.top))
    parts = [
        _block(block, sizes.lines[i][j], Box(lefts[j], tops[i], sizes.columns[j], sizes.rows[i]), (i, j) in panel.differs)
        for i, row in enumerate(panel.blocks)
        for j, block in enumerate(row)
    ]
    parts += [_tick(s, x + wide / 2, sizes.top - 7, "middle") for s, x, wide in zip(panel.columns, lefts, sizes.columns)]
    parts += [_tick(s, sizes.left - 6, y + tall / 2 + 4, "end") for s, y, tall in zip(panel.rows, tops, sizes.rows)]
    width, height = lefts[-1] + 3, tops[-1] + 3
    return drawing.figure(width, height, "".join(parts))


def _block(block: Block, lines: list[str], box: Box, differs: bool) -> str:
    colour = drawing.fill(block[0]) if block else "none"
    dashes = ' stroke-dasharray="3 3"' * (not block)
    parts = [box.within(1).drawn(f'fill="{colour}" stroke="currentColor" stroke-opacity="0.45"{dashes}')]
    if len(block) > 1:
        parts.append(_hatched(box.within(1)))
    shared = 1 < len(block) <= 16
    if shared:
        parts.append(_strip(block, Box(box.x + 8, box.y + box.tall - 14, box.wide - 16, 5)))
    if differs:
        parts.append(box.within(3.5).drawn(f'fill="none" stroke="{drawing.INK}" stroke-width="2.5" stroke-dasharray="6 3"'))
    x, y = box.x + box.wide / 2, box.y + (box.tall - FOOT * shared - LINE * (len(lines) - 1)) / 2 + 5
    ink = drawing.INK if block else "currentColor"
    halo = f' stroke="{colour}" stroke-width="4" paint-order="stroke"' * (len(block) > 1)
    parts += [
        f'<text x="{x:.1f}" y="{y + k * LINE:.1f}" text-anchor="middle" font-size="14" font-weight="600" fill="{ink}"{halo}>'
        f"{escape(line)}</text>"
        for k, line in enumerate(lines)
    ]
    return "".join(parts)


def _hatched(box: Box) -> str:
    """Oblique lines over a block that several devices hold: a copy never looks like what one device has alone."""
    lines = []
    for k in range(12, int(box.wide + box.tall), 12):
        right, down = min(k, box.wide), min(k, box.tall)
        lines.append(f"M{box.x + k - down:.1f} {box.y + down:.1f}L{box.x + right:.1f} {box.y + k - right:.1f}")
    return f'<path d="{"".join(lines)}" stroke="{drawing.INK}" stroke-opacity="0.28" stroke-width="1.2"/>'


def _strip(block: Block, box: Box) -> str:
    """The colours of all holders in a row at the foot of a block: one block, several copies."""
    each = box.wide / len(block)
    style = f'width="{each:.1f}" height="{box.tall}" stroke="{drawing.INK}" stroke-width="0.6"'
    return "".join(
        f'<rect x="{box.x + k * each:.1f}" y="{box.y:.1f}" {style} fill="{drawing.fill(device)}"/>'
        for k, device in enumerate(block)
    )


def _tick(part: Slice, x: float, y: float, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" fill="currentColor" '
        f'fill-opacity="0.8">{part[0]}:{part[1]}</text>'
    )


def _extent(slices: tuple[Slice, ...]) -> int:
    return slices[-1][1] if slices else 1


def _shares(slices: tuple[Slice, ...], pixels: float) -> list[float]:
    return [pixels * (b - a) / _extent(slices) for a, b in slices] or [pixels]


def _stretched(shares: list[float], needs: list[float]) -> list[float]:
    """The shares made large enough; equal slices stay equal."""
    enough = [max(pair) for pair in zip(shares, needs)]
    return [max(enough)] * len(enough) if max(shares) - min(shares) < 0.01 else enough


def _wrapped(block: Block, width: float, differs: bool) -> list[str]:
    """The device ids in lines of like length that fit, or one id a line; a dash when nothing holds the block."""
    words = drawing.ids(block) or ("–",)
    fit = max(1, int((width - PAD) / CHARACTER + 1) // (1 + max(map(len, words))))
    each = math.ceil(len(words) / math.ceil(len(words) / fit))
    lines = [" ".join(words[k : k + each]) for k in range(0, len(words), each)]
    return ["≠ " * differs + lines[0], *lines[1:]]
