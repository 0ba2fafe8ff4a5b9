"""A placement in plain characters, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from shardlab.pictures import facts, picture
from shardlab.pictures.picture import Panel
from shardlens import Placement, drawing

WIDEST = 110
MOST_LISTED = 64


def head(placement: Placement, title: str | None) -> list[str]:
    """Title and facts."""
    known = facts.facts(placement)
    first = filter(None, (known.array, known.mesh, known.spec, known.notation))
    lines = ["  ".join(first), f"{known.shard}  {known.bytes}, {known.copies}"]
    return [drawing.plain(title), *lines] if title else lines


def brief(placement: Placement, title: str) -> list[str]:
    """Title and facts in short lines, for two pictures side by side."""
    known = facts.facts(placement)
    return [drawing.plain(title), f"{known.array}  {known.spec}".rstrip(), known.mesh, f"{known.shard}, {known.copies}"]


def resting(placement: Placement, devices: Sequence[int] | None) -> list[str]:
    """One line that names the devices that hold nothing, if there are any."""
    rest = picture.idle(placement, devices)
    return [f"{drawing.named(rest)} hold{'s' * (len(rest) == 1)} nothing"] if rest else []


def grids(placement: Placement, against: Placement | None = None) -> list[str]:
    """The blocks as grids, or as a list where a grid is too wide; those that `against` gives to others are marked."""
    panels = picture.panels(placement, against)
    drawn = [[picture.caption(panel)] * bool(panel.leading) + _grid(panel) for panel in panels]
    lines = drawing.beside(drawn, len({panel.leading[-1:] for panel in panels}))
    return lines if lines and max(map(len, lines)) <= WIDEST else listed(placement, against)


def listed(placement: Placement, against: Placement | None = None) -> list[str]:
    """One line a slice, at most `MOST_LISTED`."""
    other = (against or placement).holders()
    lines = [
        f"{' ' if other.get(index) == block else '≠'} {drawing.written(index)}  {drawing.named(block)}"
        for index, block in placement.holders().items()
    ]
    more = [f"  and {len(lines) - MOST_LISTED} more slices"] * (len(lines) > MOST_LISTED)
    return lines[:MOST_LISTED] + more


def _grid(panel: Panel) -> list[str]:
    cells = [
        ["≠ " * ((i, j) in panel.differs) + (" ".join(drawing.ids(block)) or "-") for j, block in enumerate(line)]
        for i, line in enumerate(panel.blocks)
    ]
    ticks = [f"{a}:{b}" for a, b in panel.columns] or [""]
    widths = [2 + max(map(len, column)) for column in zip(ticks, *cells)]
    if max(widths) * len(widths) < drawing.PREFERRED:
        widths = [max(widths)] * len(widths)
    sides = _sides(panel)
    margin = " " * len(sides[0])
    top = [f"{margin} {' '.join(map(str.center, ticks, widths))}".rstrip()] * bool(panel.columns)
    rule = ["─" * width for width in widths]
    body = [f"{side}│{'│'.join(map(str.center, line, widths))}│" for side, line in zip(sides, cells)]
    return [*top, f"{margin}┌{'┬'.join(rule)}┐", *body, f"{margin}└{'┴'.join(rule)}┘"]


def _sides(panel: Panel) -> list[str]:
    if not panel.rows:
        return [" "]
    before, after = (max(len(str(row[k])) for row in panel.rows) for k in (0, 1))
    return [f" {a:>{before}}:{b:<{after}} " for a, b in panel.rows]
