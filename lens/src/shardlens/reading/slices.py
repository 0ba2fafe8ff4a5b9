"""What goes between the slices of a TPU program, over the data center's network. No JAX here.

Such a program is compiled for one slice, and every slice runs it. XLA has each sum or gather between slices sent and taken
by the host's runtime, as a message that says what it is.
"""

from __future__ import annotations

import math
import re

from shardlens.placement import Axes
from shardlens.reading.hlo import HloInstruction, parse_hlo

DCN = "dcn"
"""The axis of what goes between slices, whatever the mesh calls it."""
TRANSFER = "_xla_megascale_transfer_type="
_KINDS = {
    "ALL_GATHER": "all-gather",
    "ALL_REDUCE": "all-reduce",
    "ALL_TO_ALL": "all-to-all",
    "ONE_TO_ONE": "collective-permute",
    "REDUCE_SCATTER": "reduce-scatter",
}
_TYPE = re.compile(TRANSFER + r'"(\w+)"')
_KEY = re.compile(r'_xla_host_transfer_rendezvous="([^"]+)"')
_FACTOR = re.compile(r'_xla_megascale_target="\{([\d,]+)\}x')
_IDS = re.compile(r"\b(\d+)\d{5}\b")


def kind_between(i: HloInstruction) -> str:
    """The kind of collective between slices that a message is the taking half of; empty for anything else.

    Of a type that is not known here it is the type itself.
    """
    found = _TYPE.search(i.rest) if i.opcode == "recv" else None
    return _KINDS.get(found[1], found[1]) if found else ""


def sent_for(i: HloInstruction, siblings: dict[str, HloInstruction]) -> HloInstruction | None:
    """The instruction whose arrays are sent, of a message that is the taking half."""
    key = _KEY.search(i.rest)
    halves = (each for each in siblings.values() if each.opcode == "send" and key and key[0] in each.rest)
    return next((siblings[half.operands[0]] for half in halves if half.operands[0] in siblings), None)


def slices_of(i: HloInstruction) -> int:
    """How many slices take part in what a message is."""
    factor = _FACTOR.search(i.rest)
    return len(factor[1].split(",")) if factor else len({*_IDS.findall(i.attribute("frontend_attributes"))})


def slice_axes(axes: Axes, hlo_text: str) -> Axes:
    """The mesh axes inside of one slice, of a program that goes between slices; those of the mesh for any other."""
    if TRANSFER not in hlo_text:
        return axes
    return within(axes, math.prod(size for _, size in axes) // parse_hlo(hlo_text).devices)


def within(axes: Axes, slices: int) -> Axes:
    """Mesh axes divided among so many slices, the slowest first.

    Example:
        >>> within((("replica", 2), ("data", 8), ("model", 4)), 4)
        (('replica', 1), ('data', 4), ('model', 4))
    """
    inside = []
    for name, size in axes:
        part = math.gcd(size, slices)
        inside.append((name, size // part))
        slices //= part
    return tuple(inside)
