"""`show_schedule`: which operations a TPU program runs beside its compute, from the order of its HLO text."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Collection, Iterator, Mapping
from html import escape

from shardlens.charts import drawing
from shardlens.charts.drawing import Picture
from shardlens.errors import LensError
from shardlens.programs.program import Program
from shardlens.reading.calls import calls
from shardlens.reading.collectives import chain, sites
from shardlens.reading.hlo import HloInstruction, HloModule, parse_hlo

WORK = {"fusion", "dot", "convolution", "custom-call", "while", "call", "conditional", "reduce", "sort", "scatter"}
LEFT, WIDE, TALL, SHOWN = 190.0, 430.0, 20.0, 14
AXIS, LETTER = 36.0, 6.6
COLOURS = {"compute": "#BBBBBB", "collective": "#EE8866", "copy": "#77AADD"}


@dataclasses.dataclass(frozen=True)
class Bar:
    """One operation in the order of the schedule.

    Args:
        name: in the HLO.
        kind: "compute", "collective" or "copy".
        start, stop: cycles, as the compiler estimates them for compute; where it gives none, one for each operation.
        beside: whether compute runs while it is under way: it has a start and a done.
        operation: the JAX operation that it came from, `dot_general`; else what HLO calls it.
    """

    name: str
    kind: str
    start: float
    stop: float
    beside: bool = False
    operation: str = ""


@dataclasses.dataclass(frozen=True)
class Timeline:
    """The bars of one computation, whether their lengths are the compiler's estimates, and whether it is the entry."""

    computation: str
    bars: tuple[Bar, ...]
    estimated: bool
    entry: bool

    @property
    def end(self) -> float:
        """When the last one ends."""
        return max((bar.stop for bar in self.bars), default=0.0)


def show_schedule(program: Program | str) -> Picture:
    """The picture of operations that run beside others: from their start to their done, and the compute between.

    Args:
        program: compiled for a TPU, or the text of one; on CPU nothing runs beside anything.
    Raises:
        LensError: the text is not that of an HLO module.
    Example:
        >>> program = lens.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32"))
        >>> print(show_schedule(program).text.splitlines()[0])
        Schedule of the program: 0 operations with a start and a done, 0 with compute between them
    """
    found = timelines(program.hlo if isinstance(program, Program) else program)
    lines = [line for timeline in found for line in text(timeline)]
    return Picture("\n".join(lines), drawing.framed("".join(map(_html, found))))


def timelines(hlo: str) -> tuple[Timeline, ...]:
    """The schedule of the entry, and of each other computation with a collective or a start in it."""
    module = parse_hlo(hlo)
    if "is_scheduled=true" not in hlo.split("\n", 1)[0]:
        raise LensError(
            "not-scheduled",
            "the operations of this text are not in the order in which they run.",
            where=repr(hlo[:60]),
            mend="pass a program from inspect, or the text of a compiled one.",
        )
    fused = {i.attributes.get("calls", "").removeprefix("%") for i in _all(module) if i.opcode in ("fusion", "async-start")}
    names = [module.entry, *(name for name in module.computations if name != module.entry and name not in fused)]
    begun = sites(hlo)
    found = (_timeline(module, name, begun) for name in names if calls(hlo).runs[name] != 0)
    return tuple(t for t in found if t.computation == module.entry or any(bar.kind == "collective" for bar in t.bars))


def _timeline(module: HloModule, name: str, collectives: Collection[str]) -> Timeline:
    """Bars in the order of the text: compute takes its time, what is under way waits for its done."""
    instructions = module.computations[name]
    clock, bars, begun = 0.0, [], {}
    estimated = any(_cycles(i) > 0 for i in instructions.values() if i.opcode in WORK or i.name in collectives)
    for i in instructions.values():
        if _phase(i) == "start":
            begun[i.name] = clock
        elif _phase(i) == "done" and (start := _start_of(module, i, begun, instructions)):
            bars.append(Bar(start, _kind(instructions[start], collectives), begun.pop(start), clock, beside=True))
        elif i.opcode in WORK or i.name in collectives:
            length = _cycles(i) if estimated else 1.0
            bars.append(Bar(i.name, _kind(i, collectives), clock, clock + length, operation=_operation(i)))
            clock += length
    # What ends in another computation, as a loop's body, is under way until this one ends.
    bars += [Bar(start, "collective", at, clock, beside=True) for start, at in begun.items() if start in collectives]
    return Timeline(name, tuple(sorted(bars, key=lambda bar: (bar.beside, bar.start))), estimated, name == module.entry)


def _operation(i: HloInstruction) -> str:
    return i.op_name.rpartition("/")[2] or i.opcode


def _phase(i: HloInstruction) -> str:
    """Whether it starts something or waits for it: by its operation, or, for TPU fusions, by its name."""
    for phase in ("start", "done"):
        # A TPU's asynchronous collectives are fusions in its scheduled text; only their names say which half they are.
        fused = i.opcode == "fusion" and re.search(rf"async-collective-{phase}(\.\d+)?$", i.name)
        if fused or i.opcode.endswith(f"-{phase}"):
            return phase
    return ""


def _start_of(
    module: HloModule, done: HloInstruction, begun: Mapping[str, float], instructions: Mapping[str, HloInstruction]
) -> str | None:
    """The start of the same chain, or the nearest among what a done waits for, through tuples and fusions on the way."""
    if done.opcode == "fusion" and (same := chain(module, done)):
        return next((name for name in begun if chain(module, instructions[name]) == same), None)
    waiting, seen = list(done.operands), set()
    while waiting:
        name = waiting.pop(0)
        if name in begun:
            return name
        if name in instructions and name not in seen:
            seen.add(name)
            waiting += instructions[name].operands
    return None


def _kind(i: HloInstruction, collectives: Collection[str]) -> str:
    if i.name in collectives:
        return "collective"
    return "copy" if i.opcode.startswith(("copy", "slice", "dynamic")) else "compute"


def _cycles(i: HloInstruction) -> float:
    # From the TPU compiler's backend_config; collectives have none there, nor has anything on CPU.
    found = re.search(r'"estimated_cycles":"(\d+)"', i.rest)
    return float(found[1]) if found else 0.0


def _all(module: HloModule) -> Iterator[HloInstruction]:
    for instructions in module.computations.values():
        yield from instructions.values()


def rows(timeline: Timeline) -> list[Bar]:
    """What is drawn in rows of its own: all that runs beside compute, and collectives that nothing runs beside."""
    return [bar for bar in timeline.bars if bar.beside or bar.kind == "collective"][:SHOWN]


def title(timeline: Timeline) -> str:
    """The program or the part of it, and how many run beside compute."""
    beside = [bar for bar in timeline.bars if bar.beside]
    covered = sum(bar.stop > bar.start for bar in beside)
    whose = "Schedule of the program" if timeline.entry else f"Schedule of the program's part {timeline.computation}"
    many = f"{len(beside)} operation{'s' * (len(beside) != 1)} with a start and a done"
    return f"{whose}: {many}, {covered} with compute between them"


def text(timeline: Timeline, width: int = 48) -> list[str]:
    """The schedule in plain characters."""
    unit = width / timeline.end if timeline.end else 0.0
    compute = [bar for bar in timeline.bars if bar.kind == "compute"]
    lines = [title(timeline), f"  {'compute':28.28} |{_strokes(compute, unit, width)}|"]
    lines += [f"  {bar.name:28.28} |{_strokes([bar], unit, width)}|" for bar in rows(timeline)]
    lines.append(f"  {'':28} 0{f'{timeline.end:,.0f}':>{width + 1}}")
    return [*lines, f"  {_blocks(timeline)}", f"  {_unit(timeline)}"]


def _strokes(bars: list[Bar], unit: float, width: int) -> str:
    cells = [" "] * width
    for bar in bars:
        first = min(int(bar.start * unit), width - 1)
        for k in range(first, max(first + 1, min(round(bar.stop * unit), width))):
            cells[k] = "=" if bar.beside else "#"
    return "".join(cells)


def _blocks(timeline: Timeline) -> str:
    """What the blocks of compute are, in the order of the schedule."""
    named = itertools.groupby(bar.operation for bar in timeline.bars if bar.kind == "compute")
    runs = [(name, len(list(same))) for name, same in named]
    told = [name if times == 1 else f"{times} {name}" for name, times in runs[:SHOWN]]
    return f"Blocks of compute: {', '.join(told)}{', ...' * (len(runs) > SHOWN)}. " if runs else ""


def _unit(timeline: Timeline) -> str:
    if timeline.estimated:
        return f"{timeline.end:,.0f} cycles of compute, as the compiler estimates them; it gives no time for a collective"
    return f"{timeline.end:,.0f} operations in order; their lengths are not known"


def _html(timeline: Timeline) -> str:
    unit = WIDE / timeline.end if timeline.end else 0.0
    lanes = [("compute", [b for b in timeline.bars if b.kind == "compute"]), *((bar.name, [bar]) for bar in rows(timeline))]
    parts = []
    for k, (name, bars) in enumerate(lanes):
        y = 4 + k * (TALL + 5)
        parts.append(
            f'<text x="{LEFT - 8:g}" y="{y + 14:g}" fill="currentColor" text-anchor="end">{escape(name[:28])}</text>'
        )
        parts += [_rect(bar, y, unit) for bar in bars]
    down = 4 + len(lanes) * (TALL + 5)
    parts += _axis(timeline, down, unit)
    drawn = drawing.figure(LEFT + WIDE + 40, down + AXIS, "".join(parts))
    head = f'<div style="font-weight:600;margin-top:.5em">{escape(title(timeline))}</div>'
    below = f"{_blocks(timeline)}{_unit(timeline)}. Striped: in progress during compute."
    foot = f'<div style="font-size:12.5px;opacity:.85">{escape(below)}</div>'
    said = "; ".join(f"{bar.name} from {bar.start:.0f} to {bar.stop:.0f}" for bar in rows(timeline))
    label = escape(f"{title(timeline)}. {said}. {_unit(timeline)}")
    return f'{head}<div role="img" aria-label="{label}" style="overflow-x:auto">{drawn}</div>{foot}'


def _rect(bar: Bar, y: float, unit: float) -> str:
    x, wide = LEFT + bar.start * unit, max((bar.stop - bar.start) * unit, 2.5)
    colour = COLOURS[bar.kind]
    box = (
        f'<rect x="{x:.1f}" y="{y:g}" width="{wide:.1f}" height="{TALL:g}" fill="{colour}" stroke="#444" stroke-width=".7"/>'
    )
    stripes = "".join(f"M{x + k:.1f} {y + TALL:g}l6 -{TALL:g}" for k in range(2, int(wide) - 6, 8)) if bar.beside else ""
    striped = f'<path d="{stripes}" stroke="#444" stroke-opacity=".55" stroke-width=".9"/>' if stripes else ""
    named = bar.kind == "compute" and wide > LETTER * len(bar.operation) + 8
    name = f'<text x="{x + wide / 2:.1f}" y="{y + 14:g}" font-size="11" fill="#111">{escape(bar.operation)}</text>'
    return box + striped + name * named


def ticks(end: float) -> list[int]:
    """Round numbers from 0 to an end, at most six of them.

    Example:
        >>> ticks(297_196)
        [0, 100000, 200000]
    """
    steps = (digit * 10**power for power in itertools.count() for digit in (1, 2, 5))
    step = next(step for step in steps if end <= 5 * step)
    return [*range(0, int(end) + 1, step)]


def _axis(timeline: Timeline, y: float, unit: float) -> Iterator[str]:
    """The axis of time below the bars, with its unit, and whose estimate it is."""
    look = 'fill="currentColor" font-size="11"'
    yield f'<path d="M{LEFT:g} {y:g}h{WIDE:g}" stroke="currentColor" stroke-opacity=".6"/>'
    for at in ticks(timeline.end):
        x = LEFT + at * unit
        yield f'<path d="M{x:.1f} {y:g}v4" stroke="currentColor" stroke-opacity=".6"/>'
        yield f'<text x="{x:.1f}" y="{y + 16:g}" text-anchor="middle" {look}>{at:,.0f}</text>'
    said = "cycles of compute (estimated)" if timeline.estimated else "operations in order, one step each (not a time)"
    yield f'<text x="{LEFT + WIDE / 2:g}" y="{y + 31:g}" text-anchor="middle" {look}>{said}</text>'
