"""Chapter 11's bar to move: what one device holds of a model in each stage of ZeRO, over more and more devices."""

from __future__ import annotations

import html
import json

from shardlab_course.ch11.ex01.oracle import ledger
from shardlens import chip
from shardlens.charts.ledger import FILLS, size

PARAMETERS = 7_500_000_000
DEVICES = (1, 2, 4, 8, 16, 32, 64)
CHIPS = ("v5e", "h100")


def said(stage: int, devices: int) -> str:
    """The bar in words, and the chips that have so much memory."""
    parts = ledger(PARAMETERS, devices, stage, mixed=True)
    whole = sum(parts.values())
    rooms = {chip(name).name: chip(name).hbm_bytes for name in CHIPS}
    fits = " and ".join(name for name, room in rooms.items() if whole <= room)
    line = ", ".join(f"{part} {size(count)}" for part, count in parts.items())
    return f"{size(whole)} on each device: {line}. Memory enough: {fits or 'neither chip'}."


def figure() -> str:
    """Two sliders, the bar, memories of chips and words, as a page takes them; without scripts, nothing is cut."""
    begin = ledger(PARAMETERS, 1, 0, mixed=True)
    most = sum(begin.values())
    told = [
        [{"parts": list(ledger(PARAMETERS, d, n, mixed=True).values()), "said": said(n, d)} for d in DEVICES]
        for n in range(4)
    ]
    bar = "".join(
        f'<span style="width: {100 * count / most:.4g}%; background: {fill}"></span>'
        for fill, count in zip(FILLS, begin.values())
    )
    marks = "".join(f'<i style="left: {100 * chip(name).hbm_bytes / most:.4g}%">{chip(name).name}</i>' for name in CHIPS)
    legend = " ".join(f'<span><b style="background: {fill}"></b>{part}</span>' for fill, part in zip(FILLS, begin))
    inside = (
        "<figcaption>Move the stage of ZeRO and the number of devices. Each stage cuts one part more. Activations are not "
        "counted.</figcaption>"
        f"{_slider('stage', 3, '0')}{_slider('devices', len(DEVICES) - 1, str(DEVICES[0]))}"
        f'<div class="stages-bar" aria-hidden="true">{bar}{marks}</div><p class="stages-legend">{legend}</p>'
        f'<p class="stages-said" role="status">{said(0, 1)}</p>'
    )
    data = f'data-told="{html.escape(json.dumps(told, separators=(",", ":")))}" data-devices="{json.dumps(DEVICES)}"'
    return f'```{{raw}} html\n<figure class="stages" {data}>{inside}</figure>\n```\n'


def _slider(name: str, most: int, value: str) -> str:
    control = f'<input type="range" name="{name}" min="0" max="{most}" value="0">'
    return f"<label><span>{name}</span>{control}<output>{value}</output></label>"
