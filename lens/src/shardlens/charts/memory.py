"""`show_memory`: what fills the memory of one device while a program runs."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from shardlens.charts import drawing
from shardlens.charts.drawing import Picture
from shardlens.costs.chips import Chip, chip
from shardlens.programs.program import Program

PARTS = (("arguments", "#77AADD", "▓"), ("outputs", "#EEDD88", "▒"), ("temporary", "#EE8866", "░"))
WIDTH, TALL, GAP, LINE = 520.0, 26.0, 24.0, 15.0
CELLS = 48


def show_memory(programs: Program | Mapping[str, Program], on: Chip | str | None = None) -> Picture:
    """Bars of bytes on one device: arguments, outputs that take no argument's place, temporaries, and the peak.

    Args:
        programs: one, or several by name, to one scale.
        on: a chip whose memory is to be the scale.
    Example:
        >>> program = lens.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((64,), "float32"))
        >>> show_memory(program)
        one device
          |▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒|
          ▓ arguments 256 B, ▒ outputs 256 B, ░ temporary 0 B; peak ... B
    """
    named = {"": programs} if isinstance(programs, Program) else dict(programs)
    found = chip(on) if isinstance(on, str) else on
    whole = int(found.hbm_bytes) if found else max((max(_total(p), p.memory.peak) for p in named.values()), default=1)
    scale = f"{found.name}: {drawing.size(whole)}" if found else ""
    lines = [line for name, p in named.items() for line in text(name, p, max(whole, 1))] + [scale] * bool(scale)
    return Picture("\n".join(lines), _html(named, max(whole, 1), scale, lines))


def segments(program: Program) -> tuple[int, int, int]:
    """Bytes of arguments, of outputs that do not take their place, and of temporaries."""
    m = program.memory
    return m.argument, max(0, m.output - m.alias), m.temp


def text(name: str, program: Program, whole: int) -> list[str]:
    """The bar in plain characters, and its numbers."""
    counts = [round(CELLS * part / whole) for part in segments(program)]
    bar = "".join(sign * n for (_, _, sign), n in zip(PARTS, counts))
    said = ", ".join(f"{sign} {word} {drawing.size(n)}" for (word, _, sign), n in zip(PARTS, segments(program)))
    each = f"each of {program.devices} devices" if program.devices > 1 else "one device"
    return [
        f"{name}: {each}" if name else each,
        f"  |{bar.ljust(CELLS)}|",
        f"  {said}; peak {drawing.size(program.memory.peak)}",
    ]


def _total(program: Program) -> int:
    return sum(segments(program))


def _html(named: Mapping[str, Program], whole: int, scale: str, lines: list[str]) -> str:
    label = escape(". ".join(line.strip() for line in lines if "|" not in line))
    bars = "".join(_bar(name, program, whole) for name, program in named.items())
    note = "".join(f'<div style="font-size:12.5px;opacity:.85">{escape(line)}</div>' for line in _notes(named, scale))
    return drawing.framed(f'<div role="img" aria-label="{label}" style="overflow-x:auto">{bars}</div>{note}')


def _notes(named: Mapping[str, Program], scale: str) -> list[str]:
    notes = [f"The whole width is the memory of a {scale}."] * bool(scale)
    if any(program.platform == "cpu" for program in named.values()):
        notes.append("Compiled for CPU: temporaries and peak say nothing about a TPU.")
    return notes


def _bar(name: str, program: Program, whole: int) -> str:
    head = text(name, program, whole)[0]
    parts, x, y = [_words(0, 13, head, "start", 12.5)], 0.0, 20.0
    for (word, colour, _), nbytes in zip(PARTS, segments(program)):
        wide = WIDTH * nbytes / whole
        if nbytes:
            parts.append(_rect(x, y, max(wide, 1.5), f'fill="{colour}" stroke="#444" stroke-width=".8"'))
        said = f"{word} {drawing.size(nbytes)}"
        if wide > 7.2 * len(said):
            parts.append(f'<text x="{x + wide / 2:.1f}" y="{y + 17:g}" font-size="11.5">{said}</text>')
        x += wide
    parts.append(_rect(0, y, WIDTH, 'fill="none" stroke="currentColor" stroke-opacity=".45"'))
    peak = WIDTH * program.memory.peak / whole
    mark = f'<path d="M{peak:.1f} {y - 3:g}v{TALL + 6:g}" stroke="currentColor" stroke-width="2.2" stroke-dasharray="4 2"/>'
    parts.append(mark * (program.memory.peak > 0))
    below = ", ".join(f"{word} {drawing.size(n)}" for (word, _, _), n in zip(PARTS, segments(program)))
    below += f"; peak (dashed) {drawing.size(program.memory.peak)}"
    parts.append(_words(0, y + TALL + LINE, below, "start", 11))
    return drawing.figure(max(WIDTH + 8, 6.8 * len(below)), 20 + TALL + GAP + LINE, "".join(parts), left=-2)


def _rect(x: float, y: float, wide: float, look: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:g}" width="{wide:.1f}" height="{TALL:g}" {look}/>'


def _words(x: float, y: float, words: str, anchor: str, size: float) -> str:
    look = f'fill="currentColor" text-anchor="{anchor}" font-size="{size:g}"'
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(words)}</text>'
