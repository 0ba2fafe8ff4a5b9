"""Chapter 1's picture to cut: two mesh axes that a reader drags onto rows, onto columns, or off the array."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import Any

from shardlens import place
from shardlens.charts.drawing import INK, MONO, fill

MESH = {"x": 2, "y": 4}
SHAPE = (8, 16)
ITEM = 4
"""Bytes of an element: the chapter's array is float32."""
BEGIN = ("x", "y")
UNIT = 22
"""Pixels of an element."""
ZONES = {"rows": "cuts the rows", "columns": "cuts the columns", "copies": "cuts nothing"}
Cut = tuple[str, str]
"""Names of the axes that cut the rows, and of those that cut the columns, each in their order."""


def cuts() -> Iterator[Cut]:
    """All that two axes can do: each cuts one dimension or none, and where both cut the same one, either comes first."""
    x, y = MESH
    places = ("", x, y, x + y, y + x)
    return ((rows, columns) for rows in places for columns in places if not {*rows} & {*columns})


def spec(cut: Cut) -> str:
    """As Python writes it."""
    entries = [_entry(names) for names in cut]
    while entries and entries[-1] == "None":
        entries.pop()
    return f"P({', '.join(entries)})"


def _entry(names: str) -> str:
    if not names:
        return "None"
    quoted = ", ".join(f'"{name}"' for name in names)
    return quoted if len(names) == 1 else f"({quoted})"


def blocks(cut: Cut) -> list[list[list[int]]]:
    """Of each device, start and end of its rows and of its columns."""
    shards = place(SHAPE, MESH, [tuple(names) for names in cut]).shards
    return [[list(part) for part in index] for _, index in sorted(shards)]


def told(cut: Cut) -> dict[str, Any]:
    """What the page says of a cut: its spec, the Scaling Book's notation, each device's block, bytes of a device, copies."""
    held = blocks(cut)
    (top, bottom), (left, right) = held[0]
    index = ", ".join(f"{letter}<sub>{names}</sub>" if names else letter for letter, names in zip("IJ", cut))
    size, copies = (bottom - top) * (right - left) * ITEM, held.count(held[0])
    words = f"Each device holds {bottom - top} by {right - left} elements, {size:,} bytes. "
    shared = "No two hold the same." if copies == 1 else f"{copies} devices hold each block."
    return {"spec": spec(cut), "index": f"A[{index}]", "blocks": held, "said": words + shared}


def figure() -> str:
    """Axes, array, devices and words, as a page takes them; without scripts it shows the chapter's first cut."""
    first = told(BEGIN)
    everything = html.escape(json.dumps({",".join(cut): told(cut) for cut in cuts()}, separators=(",", ":")))
    zones = "".join(
        f'<div class="cut-zone" data-zone="{zone}"><span>{said}</span>{_chip(zone)}</div>' for zone, said in ZONES.items()
    )
    devices = "".join(f'<button type="button" aria-pressed="false">{n}</button>' for n in range(len(first["blocks"])))
    height, width = (UNIT * size for size in SHAPE)
    look = f'font-family="{MONO}" font-size="13" text-anchor="middle" fill="{INK}"'
    box = f'viewBox="-1 -1 {width + 2} {height + 2}" width="{width + 2}" height="{height + 2}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" data-unit="{UNIT}" aria-hidden="true" {look} {box}>'
    inside = (
        f'<p class="cut-line"><code>{html.escape(first["spec"])}</code> <span class="cut-index">{first["index"]}</span></p>'
        f'<div class="cut-zones">{zones}</div>'
        f"{svg}{_drawn(first['blocks'])}</svg>"
        f'<div class="cut-devices" role="group" aria-label="Show what a device holds">device {devices}</div>'
        f'<p class="cut-said" role="status">{first["said"]}</p>'
    )
    lead = "<figcaption>Drag an axis of the mesh (x=2, y=4) to what it is to cut, or tap it. Then tap a device.</figcaption>"
    fills = ",".join(fill(device) for device in range(len(first["blocks"])))
    data = f'data-cuts="{everything}" data-fills="{fills}"'
    return f'```{{raw}} html\n<figure class="cut" {data}>{lead}{inside}</figure>\n```\n'


def _chip(zone: str) -> str:
    name = dict(zip(("rows", "columns"), BEGIN)).get(zone)
    if name is None:
        return ""
    return f'<button type="button" class="cut-chip" data-axis="{name}">{name}={MESH[name]}</button>'


def _drawn(held: list[list[list[int]]]) -> str:
    """Each block once, with the devices that hold it, in the colour of the first; `touch.js` draws the others so too."""
    parts = []
    for block in {json.dumps(each): each for each in held}.values():
        (top, bottom), (left, right) = block
        holders = [device for device, each in enumerate(held) if each == block]
        x, y, wide, tall = UNIT * left, UNIT * top, UNIT * (right - left), UNIT * (bottom - top)
        parts.append(
            f'<rect x="{x}" y="{y}" width="{wide}" height="{tall}" fill="{fill(holders[0])}" stroke="{INK}"/>'
            f'<text x="{x + wide / 2}" y="{y + tall / 2 + 4}">{" ".join(map(str, holders))}</text>'
        )
    return "".join(parts)
