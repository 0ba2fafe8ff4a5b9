"""`show_ledger`: what each device has to hold under several plans, stacked part upon part."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from shardlens.charts import drawing
from shardlens.charts.drawing import Picture
from shardlens.costs.chips import Chip, chip

FILLS = ("#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#FFAABB", "#DDDDDD")
SIGNS = "▓░▒█#."
WIDTH, TALL, CELLS = 520.0, 24.0, 48
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def show_ledger(plans: Mapping[str, Mapping[str, float]], on: Chip | str | None = None) -> Picture:
    """Bars of bytes on one device, one bar for each plan, one segment for each part, all to one scale.

    Args:
        plans: bytes by part, by plan.
        on: a chip whose memory is marked.
    Example:
        >>> show_ledger({"replicated": {"weights": 4096}, "cut": {"weights": 512, "buffer": 256}})
        replicated: 4.096 kB on each device
          |▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓|
          ▓ weights 4.096 kB
        cut: 768 B on each device
          |▓▓▓▓▓▓░░░                                       |
          ▓ weights 512 B, ░ buffer 256 B
    """
    found = chip(on) if isinstance(on, str) else on
    memory = float(found.hbm_bytes) if found else 0.0
    whole = max(memory, 1.0, *(sum(parts.values()) for parts in plans.values()))
    lines = [line for name, parts in plans.items() for line in text(name, parts, whole)]
    mark = f"{found.name}: {size(memory)} of memory" if found else ""
    return Picture("\n".join([*lines, *[mark] * bool(mark)]), _html(plans, whole, memory, mark))


def size(count: float) -> str:
    """A number of bytes in decimal units, as memories and models are sold: `15 GB`."""
    power = min(max(len(str(int(count))) - 1, 0) // 3, len(UNITS) - 1)
    return f"{count / 1000**power:.4g} {UNITS[power]}"


def text(name: str, parts: Mapping[str, float], whole: float) -> list[str]:
    """One plan's bar in plain characters, and its numbers."""
    bar = "".join(sign * round(CELLS * count / whole) for sign, count in zip(SIGNS, parts.values()))
    said = ", ".join(f"{sign} {part} {size(count)}" for sign, (part, count) in zip(SIGNS, parts.items()))
    return [_headline(name, parts), f"  |{bar.ljust(CELLS)}|", f"  {said}"]


def _headline(name: str, parts: Mapping[str, float]) -> str:
    return f"{name}: {size(sum(parts.values()))} on each device"


def _html(plans: Mapping[str, Mapping[str, float]], whole: float, memory: float, mark: str) -> str:
    drawn = "".join(_plan(name, parts, whole, memory) for name, parts in plans.items())
    said = ". ".join(line.strip() for name, parts in plans.items() for line in text(name, parts, whole) if "|" not in line)
    note = f'<div style="font-size:12.5px;opacity:.85">Dashed: {escape(mark)}.</div>' if mark else ""
    return drawing.framed(f'<div role="img" aria-label="{escape(said)}" style="max-width:{WIDTH:g}px">{drawn}</div>{note}')


def _plan(name: str, parts: Mapping[str, float], whole: float, memory: float) -> str:
    """A line of text, the bar, and its legend, which goes on in a new line where the page is narrow."""
    headline = f'<div style="font-size:13px">{escape(_headline(name, parts))}</div>'
    inner = f"{headline}{_bar(parts, whole, memory)}{_legend(parts)}"
    return f'<div aria-hidden="true" style="margin-bottom:.7em">{inner}</div>'


def _bar(parts: Mapping[str, float], whole: float, memory: float) -> str:
    shapes, x = [], 0.0
    for fill, count in zip(FILLS, parts.values()):
        wide = WIDTH * count / whole
        look = f'fill="{fill}" stroke="#444" stroke-width=".8" vector-effect="non-scaling-stroke"'
        shapes.append(f'<rect x="{x:.1f}" y="1" width="{wide:.1f}" height="{TALL - 2:g}" {look}/>' * (count > 0))
        x += wide
    if memory:
        # Light below dark, so that the line is seen beside the bar and on it, on any page.
        d = f'd="M{min(WIDTH * memory / whole, WIDTH - 1):.1f} 0V{TALL:g}" vector-effect="non-scaling-stroke"'
        shapes.append(f'<path {d} stroke="#fff" stroke-width="4"/>')
        shapes.append(f'<path {d} stroke="#000" stroke-width="2" stroke-dasharray="4 2"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {TALL:g}" preserveAspectRatio="none" '
        f'aria-hidden="true" style="display:block;width:100%;height:{TALL:g}px">{"".join(shapes)}</svg>'
    )


def _legend(parts: Mapping[str, float]) -> str:
    """Each part's colour, name and bytes, below the bar."""
    patch = "display:inline-block;width:.7em;height:.7em;margin-right:.35em;border:.8px solid #444;background:"
    said = "".join(
        f'<span style="white-space:nowrap"><span style="{patch}{fill}"></span>{escape(part)} {size(count)}</span>'
        for fill, (part, count) in zip(FILLS, parts.items())
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:0 1em;font-size:12px">{said}</div>'
