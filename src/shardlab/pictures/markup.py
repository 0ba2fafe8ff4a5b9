"""A placement as a piece of HTML that stands alone: inline styles and SVG, no scripts, no ids, nothing fetched."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from html import escape

from shardlab.pictures import facts, picture, svg, terminal
from shardlab.pictures.picture import Panel
from shardlens import Placement, drawing

SMALLEST_DRAWN = re.compile(r"<svg [^>]*min-width:(\d+)px")


def headed(placement: Placement, title: str | None) -> str:
    """Title and facts."""
    known = facts.facts(placement)
    heading = f'<div style="font-weight:600;margin-bottom:.15em">{escape(title)}</div>' if title else ""
    words = [
        f"<b>{escape(known.array)}</b>",
        *(f"<span>{escape(said)}</span>" for said in (known.mesh, known.spec) if said),
        *([_subscripted(known)] if known.dimensions else []),
    ]
    row = "display:flex;flex-wrap:wrap;column-gap:1.1em"
    return (
        f'{heading}<div style="{row};font-family:{drawing.MONO};font-size:13px">{"".join(words)}</div>'
        f'<div style="{row};font-size:12.5px;opacity:.82">{escape(f"{known.shard} · {known.bytes} · {known.copies}")}</div>'
    )


def drawn(
    placement: Placement,
    against: Placement | None = None,
    side: float = 250.0,
    least: tuple[float, float] = (0.0, 0.0),
) -> str:
    """The blocks, with their description for those who do not see them; as `sized` where they lie beside others."""
    panels = picture.panels(placement, against)
    side = side if len(panels) < 2 else 0.64 * side
    rows = itertools.groupby(panels, lambda panel: panel.leading[:-1])
    figures = ["".join(_figure(panel, side, least) for panel in row) for _, row in rows]
    figures = figures or [_columns(terminal.listed(placement, against))]
    inner = "".join(f'<div style="display:flex;flex-wrap:wrap;gap:.7em 1.4em">{figure}</div>' for figure in figures)
    return (
        f'<div role="img" aria-label="{escape(facts.described(placement))}" '
        f'style="display:grid;gap:.7em;overflow-x:auto;max-width:100%;margin:.5em 0">{inner}</div>'
    )


def resting(placement: Placement, devices: Sequence[int] | None) -> str:
    """The devices that hold nothing, if there are any."""
    lines = terminal.resting(placement, devices)
    return "".join(f'<div style="font-size:12.5px;opacity:.82">{escape(line)}</div>' for line in lines)


def beside(cards: Sequence[str], note: str = "") -> str:
    """The cards from left to right, or one below the other where the page is narrow, and a note below."""
    row = "".join(f'<div style="min-width:0;max-width:31em">{card}</div>' for card in cards)
    # A column narrower than the smallest size of a drawing would cut it where the page has room for one column fewer.
    widest = max((int(pixels) for card in cards for pixels in SMALLEST_DRAWN.findall(card)), default=0)
    columns = f"repeat(auto-fill,minmax(min(max(20em,{widest}px),100%),1fr))"
    grid = f"display:grid;grid-template-columns:{columns};gap:1em 2.5em"
    return drawing.framed(f'<div style="{grid}">{row}</div><div style="font-size:13px;margin-top:.3em">{escape(note)}</div>')


def _subscripted(known: facts.Facts) -> str:
    low = '<sub style="line-height:0">'
    sizes = (f"{n}{low}{escape(drawing.subscript(axes))}</sub>" if axes else str(n) for n, axes in known.dimensions or ())
    return f'<span style="opacity:.82"><i>A</i>[{", ".join(sizes)}]</span>'


def sized(placements: Sequence[Placement], side: float) -> tuple[float, float]:
    """Width and height in pixels that arrays of one shape take beside each other, however they are cut; zeros otherwise."""
    grids = [picture.panels(placement) for placement in placements]
    sizes = [svg.extent(panel, side if len(grid) < 2 else 0.64 * side) for grid in grids for panel in grid]
    alike = len({len(grid) for grid in grids}) == 1
    return (max(wide for wide, _ in sizes), max(tall for _, tall in sizes)) if sizes and alike else (0.0, 0.0)


def _figure(panel: Panel, side: float, least: tuple[float, float]) -> str:
    caption = f'<div style="font:12px {drawing.MONO};opacity:.82">{escape(picture.caption(panel))}</div>'
    return f"<div>{caption * bool(panel.leading)}{svg.draw(panel, side, least)}</div>"


def _columns(lines: Sequence[str]) -> str:
    rows = "".join(f'<div style="white-space:pre-wrap">{escape(line)}</div>' for line in lines)
    return f'<div style="font:12px {drawing.MONO};columns:20em;width:100%">{rows}</div>'
