"""The first thing to touch: a product on eight devices, with and without the line that gives every device all rows."""

from __future__ import annotations

import html
from collections.abc import Iterator

from shardlens.charts.drawing import INK, fill

DEVICES = 8
ROWS, INNER, COLUMNS, ITEM = 64, 32, 16, 4
"""The page's own product: float32 matrices of 64 by 32 and of 32 by 16."""
GATHERED = ROWS * INNER * ITEM
"""Bytes of the all-gather that the line makes: the whole of A."""
FLOPS = (2 * ROWS * INNER * COLUMNS, 2 * ROWS * INNER * COLUMNS // DEVICES)
"""Of a device, with the line and without: the whole product, or the one of its own rows."""
WIDE, ROW, GAP, TOP = 74, 9, 14, 22
ACROSS = 4
LINE = "    A = jax.lax.with_sharding_constraint(\n        A, NamedSharding(mesh, P()))"


def figure() -> str:
    """Switch, code, devices and numbers, as a page takes them; style alone turns them, and `touch.js` lets numbers run."""
    switch = "".join(
        f'<label><input type="radio" name="line" value="{value}"{checked}><span>{said}</span></label>'
        for value, said, checked in (("with", "with this line", ""), ("without", "without it", " checked"))
    )
    code = f"def careful(mesh, A, B):\n<mark>{html.escape(LINE)}</mark>\n    return A @ B"
    numbers = "".join(
        f"<div><dt>{said}</dt><dd>{shown}</dd></div>"
        for said, shown in (
            ("bytes gathered", _number((GATHERED, 0))),
            ("FLOPs of a device", _number(FLOPS)),
            ("values", "the same"),
        )
    )
    inside = (
        f'<div class="turn-switch" role="radiogroup" aria-label="The program with the line, or without it">{switch}</div>'
        f"<pre>{code}</pre>{svg()}<dl>{numbers}</dl>"
    )
    return f'```{{raw}} html\n<figure class="turn">{inside}</figure>\n```\n'


def asking() -> str:
    """A field for an error or a word, which the book's search answers."""
    label = '<label for="asked">Paste an error, or ask for a word</label>'
    look = 'rows="2" spellcheck="false" placeholder="RESOURCE_EXHAUSTED: Out of memory"'
    field = f'<textarea id="asked" name="q" {look}></textarea>'
    return f'```{{raw}} html\n<form class="ask" action="search.html">{label}{field}<button>Find</button></form>\n```\n'


def _number(each: tuple[int, int]) -> str:
    """Both numbers, of which style shows one; `touch.js` puts one that runs in their place."""
    both = "".join(f'<span class="turn-{name}">{value:,}</span>' for name, value in zip(("with", "without"), each))
    return (
        f'<span class="turn-number">{both}</span><span class="turn-runs" data-each="{list(each)}" aria-hidden="true"></span>'
    )


def svg() -> str:
    """Eight devices, each with its rows of A; the rows of the others come from where they are."""
    width, height = ACROSS * (WIDE + GAP) - GAP, 2 * (TOP + DEVICES * ROW + GAP) - GAP
    said = "Eight devices hold one group of rows of A each. With the line, each receives the groups of the other seven."
    box = f'viewBox="-1 -1 {width + 2} {height + 2}" width="{width + 2}" height="{height + 2}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{said}" {box}>{"".join(_parts())}</svg>'


def _parts() -> Iterator[str]:
    for d in range(DEVICES):
        x, y = _corner(d)
        outline = f'width="{WIDE}" height="{DEVICES * ROW}" rx="3" fill="none" stroke="currentColor" stroke-opacity=".4"'
        yield f'<text x="{x}" y="{y - 6}" font-size="12" fill="currentColor">device {d}</text>'
        yield f'<rect x="{x}" y="{y}" {outline}/>'
    for target in range(DEVICES):  # above all outlines, for they fly over them
        for source in range(DEVICES):
            yield _block(source, target)


def _block(source: int, target: int) -> str:
    x, y = _corner(target)
    from_x, from_y = _corner(source)
    moves = "" if source == target else f' class="turn-flies" style="--x:{from_x - x}px;--y:{from_y - y}px;--n:{source}"'
    look = f'width="{WIDE - 4}" height="{ROW - 2}" rx="1.5" fill="{fill(source)}" stroke="{INK}" stroke-opacity=".25"'
    return f'<rect x="{x + 2}" y="{y + source * ROW + 1}" {look}{moves}/>'


def _corner(device: int) -> tuple[int, int]:
    return device % ACROSS * (WIDE + GAP), TOP + device // ACROSS * (TOP + DEVICES * ROW + GAP)
