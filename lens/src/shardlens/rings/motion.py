"""The steps of a ring in motion: devices in a circle, chunks that travel. CSS alone; who wants no motion gets none."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator

from shardlens.charts import drawing
from shardlens.rings import ring_grid
from shardlens.rings.ring import PERMUTE, Chunk, Schedule, Step
from shardlens.rings.ring_grid import SLOT

SECONDS = 1.7
REST = 1.5
MOST = 8
RADIUS = 118.0
DEVICE = 17.0
LEAVES, ARRIVES = 0.12, 0.88
"""Parts of a step after which its chunks are on their way, and there."""


def draw(schedule: Schedule) -> str:
    """The `<style>` and `<svg>` elements; in a loop of all steps and a rest. Pointing at it pauses it."""
    name = f"sl-{schedule.kind}-{schedule.n}{'-both' * schedule.bidirectional}{_mark(schedule)}"
    across, down = ring_grid.slots(schedule.room)
    wide, tall = (2 * (RADIUS + DEVICE + 10 + places * SLOT) for places in (across, down))
    parts = [_ring(schedule), *_devices(schedule), *_held(schedule), *_hops(schedule), *_captions(schedule)]
    drawn = drawing.figure(wide, tall, "".join(parts), -wide / 2, -tall / 2, f'class="{name}" ')
    return f"<style>{_style(schedule, name)}</style>{drawn}"


def _mark(schedule: Schedule) -> str:
    """What tells two films apart that one page may show: for a permutation, its hops."""
    hops = [(hop.source, hop.target) for step in schedule.steps for hop in step.hops]
    return f"-{zlib.crc32(repr(hops).encode()):x}" if schedule.kind == PERMUTE else ""


def _style(schedule: Schedule, name: str) -> str:
    """Windows of the loop: `t3` travels in step 3, `c3` is its caption, `h288-412` is held from time 2.88 to time 4.12."""
    total = schedule.hops * SECONDS + REST
    moving = f".{name} .m{{opacity:0;animation:{total:.1f}s linear infinite}}"
    rules = [moving, f".{name}:hover .m{{animation-play-state:paused}}"]
    away = "transform:translate(var(--x),var(--y))"
    for k in range(1, len(schedule.steps)):
        start, stop = (100 * (k - 1 + part) * SECONDS / total for part in (LEAVES, ARRIVES))
        # CSS goes gradually from one keyframe to the next; a hundredth of a per cent between two makes a jump.
        leaving = f"0%,{start:.2f}%{{opacity:0;transform:none}}{start + 0.01:.2f}%{{opacity:1;transform:none}}"
        arriving = f"{stop:.2f}%{{opacity:1;{away}}}{stop + 0.01:.2f}%,100%{{opacity:0;{away}}}"
        rules.append(f"@keyframes {name}-t{k}{{{leaving}{arriving}}}.{name} .t{k}{{animation-name:{name}-t{k}}}")
    for start, stop in sorted({times for d in range(schedule.n) for *_, times in _lives(schedule, d)}):
        rules.append(_window(name, _held_from(start, stop), schedule, start, stop))
    for k in range(1, len(schedule.steps)):
        rules.append(_window(name, f"c{k}", schedule, k - 1, k if k < schedule.hops else math.inf))
    last = f".{name} .last{{opacity:1}}"
    rules.append(f"@media (prefers-reduced-motion:reduce){{.{name} .m{{animation:none}}{last}}}")
    rules.append(f"@media print{{.{name} .m{{animation:none}}{last}}}")
    return "".join(rules)


def _window(name: str, part: str, schedule: Schedule, start: float, stop: float) -> str:
    """Visible between two times, counted in steps."""
    total = schedule.hops * SECONDS + REST
    a, b = (max(0.0, min(100.0, 100 * step * SECONDS / total)) for step in (start, stop))
    before = "" if a == 0 else f"0%,{a:.2f}%{{opacity:0}}"
    after = "" if b == 100 else f"{b + 0.01:.2f}%,100%{{opacity:0}}"
    frames = f"{before}{a + 0.01 * (a > 0):.2f}%,{b:.2f}%{{opacity:1}}{after}"
    return f"@keyframes {name}-{part}{{{frames}}}.{name} .{part}{{animation-name:{name}-{part}}}"


def _ring(schedule: Schedule) -> str:
    return f'<circle r="{RADIUS}" fill="none" stroke="currentColor" stroke-opacity=".35" stroke-width="1.5"/>'


def _devices(schedule: Schedule) -> Iterator[str]:
    for d in range(schedule.n):
        x, y = _at(schedule.n, d, RADIUS)
        yield ring_grid.frame(schedule, *_place(schedule, d, 0))
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{DEVICE}" fill="#DDDDDD" stroke="currentColor" stroke-opacity=".6"/>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}" font-size="14" font-weight="600">{d}</text>'
        )


def _held(schedule: Schedule) -> Iterator[str]:
    """What each device holds, beside it, each chunk for as long as it is there."""
    for d in range(schedule.n):
        for place, chunk, times in _lives(schedule, d):
            last = " last" * (times[1] == math.inf)
            drawn = ring_grid.slot(schedule, chunk, *_place(schedule, d, place))
            yield f'<g class="m {_held_from(*times)}{last}">{drawn}</g>'


def _held_from(start: float, stop: float) -> str:
    """The class of what is held between two times; those in steps are written in hundredths, and `end` is the loop's."""
    return f"h{100 * start:.0f}-{'end' if stop == math.inf else f'{100 * stop:.0f}'}"


def _lives(schedule: Schedule, device: int) -> Iterator[tuple[int, Chunk, tuple[float, float]]]:
    """Place and chunk, and from when until when, in steps, it is there: once for each time that it comes.

    A chunk that is sent on is gone when its message leaves. One that changes place, or gets a term more, stays until then.
    """
    rows = [ring_grid.placed(schedule, step.held[device]) for step in schedule.steps]
    for entry in dict.fromkeys(entry for row in rows for entry in row):
        for come, gone in _runs([entry in row for row in rows]):
            start = max(0.0, come - 1 + ARRIVES)
            if gone > schedule.hops:
                yield *entry, (start, math.inf)
            else:
                sent = any((hop.source, hop.chunk) == (device, entry[1]) for hop in schedule.steps[gone].hops)
                yield *entry, (start, gone - 1 + (LEAVES if sent else ARRIVES))


def _runs(there: list[bool]) -> Iterator[tuple[int, int]]:
    """Where each stretch of truths begins, and where it has ended."""
    at = 0
    for held, stretch in itertools.groupby(there):
        length = len(list(stretch))
        if held:
            yield at, at + length
        at += length


def _hops(schedule: Schedule) -> Iterator[str]:
    """Travelling chunks, from device to device; those that travel together side by side."""
    for k, step in enumerate(schedule.steps):
        for source, target in sorted(_links(step)):
            yield from _together(schedule, step, k, source, target)


def _together(schedule: Schedule, step: Step, k: int, source: int, target: int) -> Iterator[str]:
    chunks = [hop.chunk for hop in step.hops if (hop.source, hop.target) == (source, target)]
    (x, y), (to_x, to_y) = _at(schedule.n, source, RADIUS), _at(schedule.n, target, RADIUS)
    across, down = ring_grid.slots(len(chunks))
    for i, chunk in enumerate(chunks):
        left, top = x + (i % across - across / 2) * SLOT, y + (i // across - down / 2) * SLOT
        move = f"--x:{to_x - x:.1f}px;--y:{to_y - y:.1f}px"
        drawn = ring_grid.slot(schedule, chunk, left, top, bold=True)
        yield f'<g class="m t{k}" style="{move}">{drawn}</g>'


def _captions(schedule: Schedule) -> Iterator[str]:
    for k, step in enumerate(schedule.steps[1:], start=1):
        last = " last" * (k == schedule.hops)
        count = max((sum((h.source, h.target) == (a, b) for h in step.hops) for a, b in _links(step)), default=0)
        moved = f"{count} chunk{'s' * (count != 1)} a link"
        if schedule.kind == PERMUTE:  # such a message may cross several links
            moved = f"{len(step.hops)} message{'s' * (len(step.hops) != 1)}"
        lines = [step.phase, f"step {k} of {schedule.hops}", moved]
        text = "".join(
            f'<text y="{18 * i - 14}" font-size="13" fill="currentColor">{line}</text>' for i, line in enumerate(lines)
        )
        yield f'<g class="m c{k}{last}">{text}</g>'


def _links(step: Step) -> set[tuple[int, int]]:
    return {(hop.source, hop.target) for hop in step.hops}


def _at(n: int, device: int, radius: float) -> tuple[float, float]:
    """Where a device stands; device 0 on top, the others clockwise."""
    turn = 2 * math.pi * device / n
    return radius * math.sin(turn), -radius * math.cos(turn)


def _place(schedule: Schedule, device: int, place: int) -> tuple[float, float]:
    """Upper left corner of a chunk beside its device, outside the ring."""
    across, rows = ring_grid.slots(schedule.room)
    x, y = _at(schedule.n, device, 1.0)
    reach_x, reach_y = DEVICE + 6 + across * SLOT / 2, DEVICE + 6 + rows * SLOT / 2
    centre_x, centre_y = _at(schedule.n, device, RADIUS)
    # sin(pi) is 1.2e-16 in floats: straight above and below there is no reach to the side to divide by.
    stretch = min(reach_x / abs(x) if abs(x) > 1e-6 else math.inf, reach_y / abs(y) if abs(y) > 1e-6 else math.inf)
    left, top = centre_x + stretch * x - across * SLOT / 2, centre_y + stretch * y - rows * SLOT / 2
    return left + place % across * SLOT, top + place // across * SLOT
