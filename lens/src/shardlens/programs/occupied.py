"""What occupies a device's main memory at the peak: arguments, outputs, and temporaries with their lines. No JAX here."""

from __future__ import annotations

from collections.abc import Iterator

from shardlens.costs.chips import chip
from shardlens.programs.memory import Memory
from shardlens.reading.alive import Peak, temporaries
from shardlens.reading.hlo import parse_hlo
from shardlens.reading.names import operations, scope
from shardlens.tables import Table, shares

MOST = 12
"""Temporary arrays that have rows of their own, the largest, of at least a hundredth of all."""


def occupied(memory: Memory, hlo: str, on: str = "") -> Table:
    """A row for the arguments, one for outputs in no argument's place, and one for each large temporary array at the peak.

    Args:
        memory: of the program.
        hlo: its compiled text.
        on: a chip or a target, whose memory it is held against.
    Raises:
        LensError: there are no numbers for that chip.
    """
    peak = temporaries(hlo)
    module = parse_hlo(hlo)
    instructions = {name: i for inside in module.computations.values() for name, i in inside.items()}
    rows = [
        ("arguments", f"{memory.argument:,}", "", "", ""),
        ("new outputs", f"{memory.output - memory.alias:,}", "", "", ""),
    ]
    sizes = [memory.argument, memory.output - memory.alias]
    large = [b for b in peak.buffers[:MOST] if b.bytes * 100 >= peak.bytes]
    for buffer in large:
        made = instructions[buffer.name]
        names = " + ".join(dict.fromkeys(map(scope, operations(made.op_name))))
        alive = f"{buffer.made} to {buffer.dies}" + ("" if buffer.computation == module.entry else ", in a loop")
        rows.append((buffer.name, f"{buffer.bytes:,}", alive, str(module.line(made)), names))
        sizes.append(buffer.bytes)
    if left := peak.buffers[len(large) :]:
        rows.append((f"{len(left)} more", f"{sum(b.bytes for b in left):,}", "", "", ""))
        sizes.append(sum(b.bytes for b in left))
    columns, sides = ("at the peak", "bytes", "alive", "line", "scope"), ("left", "right", "left", "left", "left")
    return Table(columns, sides, tuple(rows), tuple(_lines(memory, peak, on)), bars=shares(sizes))


def _lines(memory: Memory, peak: Peak, on: str) -> Iterator[str]:
    yield f"temporary arrays in the text: {peak.bytes:,} bytes; the compiler plans {memory.temp:,} on top of the outputs"
    if memory.host:
        yield f"on the host: {memory.host:,} bytes"
    if on:
        takes, has = memory.argument + memory.output - memory.alias + memory.temp, round(chip(on).hbm_bytes)
        over = f"does not fit: {takes - has:,} bytes more than" if takes > has else f"fits: {takes / has:.0%} of"
        yield f"{takes:,} bytes; {over} the {has:,} of {chip(on).name}"
