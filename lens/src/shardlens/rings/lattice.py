"""`show_mesh`: the devices of a mesh where they stand, and the links between neighbours along each axis."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterator
from html import escape
from typing import Any

from shardlens.charts import drawing
from shardlens.charts.drawing import Picture, fill
from shardlens.placement import Axes

MOST = 256
ACROSS, DOWN, WIDE, TALL = 62.0, 50.0, 36.0, 26.0
TOP, LETTER = 24.0, 7.5


@dataclasses.dataclass(frozen=True)
class Lattice:
    """Axes of a mesh, its device ids in mesh order, and the axes that close into a ring."""

    axes: Axes
    ids: tuple[int, ...]
    rings: frozenset[str]

    @property
    def left(self) -> float:
        """Pixels left of the first column, for the name of the rows' axis."""
        return 8 + LETTER * (2 + len(self.grid[0][0])) if self.grid[0][0] else 4.0

    @property
    def leading(self) -> Axes:
        """The axes before the last two: one panel for each of their places."""
        return self.axes[:-2]

    @property
    def grid(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """The last two axes: rows and columns; a single axis makes one row."""
        return (("", 1), self.axes[-1]) if len(self.axes) == 1 else (self.axes[-2], self.axes[-1])

    def panels(self) -> Iterator[tuple[str, list[list[int]]]]:
        """Caption and rows of device ids of each panel."""
        (_, rows), (_, columns) = self.grid
        places = itertools.product(*(range(size) for _, size in self.leading))
        for k, place in enumerate(places):
            block = self.ids[k * rows * columns : (k + 1) * rows * columns]
            caption = ", ".join(f"{name}={i}" for (name, _), i in zip(self.leading, place))
            yield caption, [list(block[i * columns : (i + 1) * columns]) for i in range(rows)]


def show_mesh(mesh: Any, rings: Collection[str] | None = None) -> Picture:
    """The picture of a mesh: device ids, axis names, and links between neighbours.

    Args:
        mesh: a `jax.sharding.Mesh`, or an abstract one, whose positions stand for devices.
        rings: axes that close into a ring; all axes longer than 2 unless given.
    Example:
        >>> show_mesh(jax.sharding.AbstractMesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2))
        mesh x=2 y=4: 8 devices; y closes into a ring
              y=0   y=1   y=2   y=3
        x=0 ~  0  -  1  -  2  -  3  ~
        x=1 ~  4  -  5  -  6  -  7  ~
    """
    import jax

    axes = tuple((str(name), int(size)) for name, size in mesh.shape.items())
    known = isinstance(mesh, jax.sharding.Mesh)
    ids = [int(d.id) for d in mesh.devices.flat] if known else range(math.prod(size for _, size in axes))
    closed = {name for name, size in axes if size > 2} if rings is None else set(rings)
    lattice = Lattice(axes or (("", 1),), tuple(ids), frozenset(closed))
    return Picture("\n".join(text(lattice)), _html(lattice))


def title(lattice: Lattice) -> str:
    """Axes, and which of them close."""
    named = " ".join(f"{name}={size}" for name, size in lattice.axes)
    rings = [name for name, _ in lattice.axes if name in lattice.rings]
    closes = f"; {', '.join(rings)} close{'s' * (len(rings) == 1)} into a ring" if rings else ""
    return f"mesh {named}: {len(lattice.ids)} devices{closes}"


def text(lattice: Lattice) -> list[str]:
    """The picture in plain characters; `~` marks ends of an axis that closes into a ring."""
    if len(lattice.ids) > MOST:
        return [title(lattice), f"devices {', '.join(drawing.ids(sorted(lattice.ids)))}"]
    (down, rows), (along, columns) = lattice.grid
    width = max(len(str(max(lattice.ids))), len(f"{along}={columns - 1}"))
    end = "~" if along in lattice.rings else " "
    drawn = []
    for caption, block in lattice.panels():
        margin = len(f"{down}={rows - 1}") if down else 0
        lines = [caption] * bool(caption)
        lines.append(" " * (margin + 3) + "   ".join(f"{along}={j}".center(width) for j in range(columns)))
        for i, row in enumerate(block):
            side = f"{down}={i}".rjust(margin) if down else ""
            lines.append(f"{side} {end} {' - '.join(str(d).center(width) for d in row)} {end}".rstrip())
        drawn.append(lines)
    return [title(lattice), *drawing.beside(drawn, 4)]


def _html(lattice: Lattice) -> str:
    head = f'<div style="font-weight:600">{escape(title(lattice))}</div>'
    if len(lattice.ids) > MOST:
        return drawing.framed(head + escape(text(lattice)[1]))
    panels = "".join(
        f'<div><div style="font-size:12px;opacity:.85">{escape(caption)}</div>{_panel(lattice, block)}</div>'
        for caption, block in lattice.panels()
    )
    label = escape(f"{title(lattice)}. {'; '.join(text(lattice)[1:])}")
    row = "display:flex;flex-wrap:wrap;gap:.6em 1.6em;overflow-x:auto"
    return drawing.framed(f'{head}<div role="img" aria-label="{label}" style="{row}">{panels}</div>')


def _panel(lattice: Lattice, block: list[list[int]]) -> str:
    (down, rows), (along, columns) = lattice.grid
    parts = [*_links(lattice, rows, columns)]
    for i, j in itertools.product(range(rows), range(columns)):
        x, y = _at(lattice, i, j)
        parts.append(
            f'<rect x="{x - WIDE / 2:g}" y="{y - TALL / 2:g}" width="{WIDE:g}" height="{TALL:g}" rx="4" '
            f'fill="{fill(block[i][j])}" stroke="currentColor" stroke-opacity=".5"/>'
            f'<text x="{x:g}" y="{y + 4.5:g}" font-size="13" font-weight="600">{block[i][j]}</text>'
        )
    look = 'fill="currentColor" font-size="12"'
    parts.append(
        f'<text x="{_at(lattice, 0, 0)[0] - WIDE / 2:g}" y="13" {look} text-anchor="start">{escape(along)} →</text>'
    )
    if down:
        parts.append(f'<text x="4" y="{_at(lattice, 0, 0)[1] + 4:g}" {look} text-anchor="start">{escape(down)} ↓</text>')
    return drawing.figure(lattice.left + columns * ACROSS, TOP + rows * DOWN - 4, "".join(parts))


def _links(lattice: Lattice, rows: int, columns: int) -> Iterator[str]:
    """Lines between neighbours; a dashed bow from the last to the first of an axis that closes."""
    (down, _), (along, _) = lattice.grid
    for i in range(rows):
        (x, y), (end, _) = _at(lattice, i, 0), _at(lattice, i, columns - 1)
        yield _line(f"M{x:g} {y:g}H{end:g}")
        if along in lattice.rings:
            low = y + TALL / 2
            yield _line(f"M{end:g} {low:g}c0 11 -8 11 -16 11H{x + 16:g}c-8 0 -16 0 -16 -11", dashed=True)
    for j in range(columns if down else 0):
        (x, y), (_, end) = _at(lattice, 0, j), _at(lattice, rows - 1, j)
        yield _line(f"M{x:g} {y:g}V{end:g}")
        if down in lattice.rings:
            side = x + WIDE / 2
            yield _line(f"M{side:g} {end:g}c11 0 11 -8 11 -16V{y + 16:g}c0 -8 0 -16 -11 -16", dashed=True)


def _line(path: str, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="3 3"' * dashed
    return f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".6" stroke-width="1.4"{dashes}/>'


def _at(lattice: Lattice, row: int, column: int) -> tuple[float, float]:
    return lattice.left + column * ACROSS + WIDE / 2, TOP + row * DOWN + TALL / 2
