"""Bars that two sliders move.

Times of a product (chapter 2), its bytes and FLOPs (4), a device's memory with ZeRO (11), what is under way beside a
product (12), and what a step moves on each mesh (15).
"""

from __future__ import annotations

import functools
import html
import json
from collections.abc import Mapping, Sequence

from shardlab import records
from shardlab_course.ch11.ex01.oracle import ledger
from shardlab_course.ch15.ex02.oracle import costs
from shardlens import chip, read_stored
from shardlens.charts.ledger import FILLS, size
from shardlens.charts.roofline import matmul
from shardlens.charts.timeline import Timeline, timelines
from shardlens.tables import seconds

Moved = tuple[Sequence[float], str]
"""Of one place of the sliders: how long each bar is, in percent, and words."""

PARAMETERS = 7_500_000_000
DEVICES = (1, 2, 4, 8, 16, 32, 64)
ROOMS = {chip(name).name: chip(name).hbm_bytes for name in ("v5e", "h100")}

ROWS = tuple(2**n for n in range(14))
CHIPS = ("v5e", "v5p", "h100")
WEIGHTS = 8192, 32768

SIZES = 8, 12, 16
"""I, J and K of chapter 4's product in float32."""
ITEM = 4
"""Bytes of its elements."""
CUTS = ("P()", 'P("x", None)', 'P(None, "x")')
"""Of one operand: cut nowhere, along its rows, along its columns."""

WRITTEN = {"all_gather, then @": "12-gather", "passed on": "12-ring"}
"""Chapter 12's programs for a v5e slice, by how they are written, and their records."""
MOMENTS = ("before", *range(1, 9))
"""Before the product begins, and in the middle of each eighth of it."""

BATCHES = (8, 16, 32, 64)
MESHES = tuple((data, 8 // data) for data in (8, 4, 2, 1))
LENGTH, DEPTH, LAYERS, WORDS = 512, 4096, 12, 32000


def zero(stage: int, devices: int) -> Moved:
    """Bytes of weights, gradients and optimizer on one device, and the chips that have so much memory."""
    parts = ledger(PARAMETERS, devices, stage, mixed=True)
    whole, most = sum(parts.values()), sum(ledger(PARAMETERS, 1, 0, mixed=True).values())
    fits = " and ".join(name for name, room in ROOMS.items() if whole <= room)
    line = ", ".join(f"{part} {size(count)}" for part, count in parts.items())
    said = f"{size(whole)} on each device: {line}. Memory enough: {fits or 'neither chip'}."
    return [100 * count / most for count in parts.values()], said


def roof(name: str, rows: int) -> Moved:
    """Seconds that one chip computes a product, and that it reads and writes memory for it."""
    on, work = chip(name), matmul(rows, *WEIGHTS)
    times = work.flops / on.flops, work.memory_bytes / on.hbm_bandwidth
    longest = max(times)
    named = f"{seconds(times[0])} to compute, {seconds(times[1])} to move the bytes"
    busy = "It computes all the time" if longest == times[0] else f"It computes {100 * times[0] / longest:.2g}% of the time"
    return [100 * time / longest for time in times], f"{named}. {busy}, if both go on at once."


def case(left: int, right: int) -> Moved:
    """Price and FLOPs of one device in A[I, J] @ B[J, K] on the mesh (x=4, y=2); `left` and `right` are places of CUTS."""
    i, j, k = SIZES
    terms = (left, right) == (2, 1)
    if terms:
        price, moves = 2 * ITEM * i * k, "Each device makes a term of all of C, and an all-reduce adds them"
    elif left == 2:
        price, moves = ITEM * i * j, "A is cut along J and B is not, so A is gathered"
    elif right == 1:
        price, moves = ITEM * j * k, "B is cut along J and A is not, so B is gathered"
    elif (left, right) == (1, 2):
        price, moves = ITEM * i * j, "Rows and columns of C cannot both be cut over x, so A, the smaller, is gathered"
    else:
        price, moves = 0, "Nothing has to move"
    whole = 2 * i * j * k
    divided = terms or left == 1 or right == 2
    flops = (whole // 4 if divided else whole) + (i * k if terms else 0)
    share = "a quarter of the product" if divided else "all of the product"
    said = f"{moves}. Price {price:,} B; {flops:,} FLOPs on each device, {share}{' and a sum' if terms else ''}."
    return [100 * price / (2 * ITEM * i * k), 100 * flops / whole], said


def beside(written: str, eighths: int) -> Moved:
    """How much is multiplied, how much has arrived, and what is under way, in the middle of an eighth of the product."""
    shown = _timetable(written)
    length = shown.end / (len(MOMENTS) - 1)
    now = 0.0 if eighths == 0 else (eighths - 0.5) * length
    # What waits alone takes no cycles in the text, so it stands at the moment at which it ends.
    moves = [bar for bar in shown.bars if bar.kind == "collective"]
    arrived = sum(bar.stop <= now for bar in moves)
    going = sum(bar.start <= now < bar.stop for bar in moves)
    alone = sum(bar.start == bar.stop for bar in moves)
    kind = "all-gather" if "all-gather" in moves[0].name else "hop"
    if eighths == 0:
        said = f"Nothing is multiplied yet: {_counted(alone, kind)} ended with no product beside it."
    else:
        wait = f"{_counted(going, kind)} under way beside it" if going else "nothing under way beside it"
        said = f"In eighth {eighths} of the product: {arrived} of {_counted(len(moves), kind)} ended, {wait}."
    return [100 * now / shown.end, 100 * arrived / len(moves)], said


@functools.cache
def _timetable(written: str) -> Timeline:
    program = read_stored(records.FOLDER / f"{WRITTEN[written]}.json", "v5e:2x4")
    return next(timeline for timeline in timelines(program.hlo) if timeline.entry)


def _counted(many: int, kind: str) -> str:
    return f"{many} {kind}{'s' * (many != 1)}"


def mesh(batch: int, data: int, model: int) -> Moved:
    """What a device moves over each axis in a step on 8 chips, against the mesh that moves most; and words."""
    found = {each: costs(*each, batch, LENGTH, DEPTH, LAYERS, WORDS) for each in MESHES}
    held, over_model, over_data = found[data, model]
    least = min(sum(moved) for there, *moved in found.values() if there <= ROOMS["v5e"])
    most = max(sum(moved) for _, *moved in found.values())
    other = "No other" if over_model + over_data == least else "Another"
    end = "does not fit on a v5e" if held > ROOMS["v5e"] else f"fits on a v5e. {other} mesh that fits moves less"
    said = f"{size(over_model)} over model and {size(over_data)} over data. A device holds {size(held)}, which {end}."
    return [100 * over_model / most, 100 * over_data / most], said


def stages() -> str:
    """Chapter 11's figure."""
    most = sum(ledger(PARAMETERS, 1, 0, mixed=True).values())
    marks = "".join(f'<i style="left: {100 * room / most:.4g}%">{name}</i>' for name, room in ROOMS.items())
    return _figure(
        "Move the stage of ZeRO and the number of devices. Each stage cuts one part more. Activations are not counted.",
        {"stage": range(4), "devices": DEVICES},
        [[zero(stage, devices) for devices in DEVICES] for stage in range(4)],
        {part: FILLS[n] for n, part in enumerate(("weights", "gradients", "optimizer"))},
        marks,
    )


def cases() -> str:
    """Chapter 4's figure."""
    i, j, k = SIZES
    return _figure(
        f"A[{i}, {j}] @ B[{j}, {k}] on the mesh (x=4, y=2), as XLA for CPU compiles it. Move the spec of A, then that of B.",
        {"A": CUTS, "B": CUTS},
        [[case(left, right) for right in range(len(CUTS))] for left in range(len(CUTS))],
        {"price": FILLS[0], "FLOPs of one device": FILLS[1]},
    )


def moments() -> str:
    """Chapter 12's figure."""
    return _figure(
        "Step through the product, as XLA for TPU ordered it for eight v5e chips. What does it wait for?",
        {"program": [*WRITTEN], "moment": MOMENTS},
        [[beside(written, eighths) for eighths in range(len(MOMENTS))] for written in WRITTEN],
        {"multiplied": FILLS[0], "arrived": FILLS[1]},
    )


def meshes() -> str:
    """Chapter 15's figure."""
    return _figure(
        f"{LAYERS} layers of depth {DEPTH:,} with {WORDS:,} words, on 8 chips. For each batch, guess which of the meshes "
        "that fit moves least. Then look.",
        {"batch": BATCHES, "data x model": [f"{data} x {model}" for data, model in MESHES]},
        [[mesh(batch, *each) for each in MESHES] for batch in BATCHES],
        {"over model": FILLS[0], "over data": FILLS[1]},
    )


def rows() -> str:
    """Chapter 2's figure."""
    d, f = WEIGHTS
    return _figure(
        f"One chip multiplies X[B, {d:,}] by W[{d:,}, {f:,}] in bfloat16. Move the number of rows. The longer bar decides.",
        {"chip": [chip(name).name for name in CHIPS], "B": ROWS},
        [[roof(name, count) for count in ROWS] for name in CHIPS],
        {"computing": FILLS[0], "moving bytes": FILLS[1]},
    )


def _figure(
    lead: str,
    sliders: Mapping[str, Sequence[object]],
    moved: Sequence[Sequence[Moved]],
    fills: Mapping[str, str],
    marks: str | None = None,
) -> str:
    """Sliders, bars and words, as a page takes them: one bar with `marks` beside it, or without, a bar for each part."""
    lengths, said = moved[0][0]
    spans = [f'<span style="width: {at:.4g}%; background: {fill}"></span>' for at, fill in zip(lengths, fills.values())]
    bars = ["".join(spans) + marks] if marks is not None else spans
    shown = "".join(f'<div class="moved-bar" aria-hidden="true">{bar}</div>' for bar in bars)
    legend = " ".join(f'<span><b style="background: {fill}"></b>{part}</span>' for part, fill in fills.items())
    controls = "".join(
        f'<label><span>{name}</span><input type="range" min="0" max="{len(values) - 1}" value="0" autocomplete="off">'
        f"<output>{html.escape(str(values[0]))}</output></label>"
        for name, values in sliders.items()
    )
    told = [[[[round(at, 2) for at in lengths], said] for lengths, said in line] for line in moved]
    data = f'data-moved="{_json(told)}" data-places="{_json([[str(value) for value in each] for each in sliders.values()])}"'
    return (
        f'```{{raw}} html\n<figure class="moved" {data}><figcaption>{lead}</figcaption>{controls}{shown}'
        f'<p class="moved-legend">{legend}</p><p class="moved-said" role="status">{said}</p></figure>\n```\n'
    )


def _json(value: object) -> str:
    return html.escape(json.dumps(value, separators=(",", ":")))
