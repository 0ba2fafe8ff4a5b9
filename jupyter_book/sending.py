"""Chapter 8's arrows to draw: who sends to whom in one permute, and what each device holds after one or more of them."""

from __future__ import annotations

import html
from collections.abc import Sequence

from shardlens.charts.drawing import INK, fill

LETTERS = "ABCD"
"""Of each device, the block that it begins with."""
ZEROS = "0"
MOST = 4
"""Steps at the most."""
BEGIN = ((0, 2), (2, 1), (1, 3), (3, 0))
"""The permutation of the chapter's cell before it."""
REFUSED = "ValueError: ppermute sources and destinations must be unique, got ({pairs})."
"""What JAX says of two messages from one device, or to one."""
WIDE, TALL = 100, 84
"""Pixels of a device, and from those above to those below."""
HEAD = (
    '<marker id="send-head" orient="auto" viewBox="-9 -6 10 12" markerWidth="5" markerHeight="6">'
    '<path d="M-8 -5L0 0L-8 5"/></marker>'
)
Pairs = Sequence[tuple[int, int]]


def held(pairs: Pairs, steps: int) -> str:
    """What each device holds after so many steps."""
    now = LETTERS
    for _ in range(steps):
        came = {target: now[source] for source, target in pairs}
        now = "".join(came.get(device, ZEROS) for device in range(len(LETTERS)))
    return now


def figure() -> str:
    """Devices, arrows, the call and what comes of it, as a page takes them; without scripts, the chapter's permutation."""
    lead = "Drag from a device above to one below, or tap both: that is a message. Do it again, and the message is gone."
    wide, arrows = WIDE * len(LETTERS), "".join(_arrow(*pair) for pair in BEGIN)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {TALL}" width="{wide}" height="{TALL}" '
        f'aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2">{HEAD}<g>{arrows}</g></svg>'
    )
    fills = "".join(f"--{letter}: {fill(device)}; " for device, letter in enumerate(LETTERS))
    inside = (
        f'<p class="send-line"><code>lax.ppermute(block, "x", {list(BEGIN)})</code></p>'
        f"{_row('sends', LETTERS)}{svg}{_row('holds', held(BEGIN, 1))}"
        f'<label class="send-steps">steps <input type="range" min="1" max="{MOST}" value="1" autocomplete="off">'
        "<output>1</output></label>"
        '<p class="send-said" role="status">After 1 step each device holds a block.</p>'
    )
    data = f'style="{fills}--ink: {INK}" data-refused="{html.escape(REFUSED)}"'
    return f'```{{raw}} html\n<figure class="send" {data}><figcaption>{lead}</figcaption>{inside}</figure>\n```\n'


def _row(verb: str, letters: str) -> str:
    buttons = "".join(
        f'<button type="button" aria-pressed="false"><span>device {device} {verb}</span> '
        f'<b style="background: var(--{letter}, #E8E8E4)">{letter}</b></button>'
        for device, letter in enumerate(letters)
    )
    return f'<div class="send-row send-{verb}">{buttons}</div>'


def _arrow(source: int, target: int) -> str:
    """From the middle of a device above to that of one below; `touch.js` draws the others so too."""
    start, end = (WIDE * device + WIDE // 2 for device in (source, target))
    return f'<path d="M{start} 2L{end} {TALL - 2}" marker-end="url(#send-head)"/>'
