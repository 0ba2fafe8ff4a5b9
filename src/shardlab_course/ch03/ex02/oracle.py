"""Chapter 3, exercise 3.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shardlens import COLLECTIVE_KINDS as KINDS
from shardlens import HloArray as Array
from shardlens import HloInstruction as Instruction
from shardlens import HloModule as Module
from shardlens import hlo_leaves as leaves
from shardlens import parse_hlo as parse
from shardlens import read_collectives


def bytes_by_kind(hlo_text: str) -> dict[str, int]:
    """Payload bytes of a program's collectives by kind, as the course's own reader of HLO counts them."""
    found: collections.Counter[str] = collections.Counter()
    for c in read_collectives(hlo_text):
        found[c.kind] += c.payload_bytes * (c.executions or 0)
    return dict(found)


def counted(*, what: str = "bytes", tuples: str = "all", rounds: str = "product", pairs: str = "done",
            itemsize: int | None = None, total: bool = False) -> Callable[[str], Any]:  # fmt: skip
    """A counter of collective bytes with something wrong.

    Args:
        what: `"bytes"`, or `"operations"` to count instructions.
        tuples: which outputs count: `"all"`, `"first"`, `"none"` (tuples are overlooked), `"short"` (those that are printed
            with index comments are overlooked).
        rounds: `"product"` of all loops around, `"inner"` for the nearest, `"once"`, `"never"` (loops are overlooked).
        pairs: `"done"` counts each asynchronous pair once, `"both"` the start, with all that it names, and the done;
            `"start"` the start alone, `"none"` neither.
        itemsize: bytes of every element; those of its type unless given.
        total: one number instead of one for each kind.
    """

    def size(array: Array) -> int:
        return array.nbytes if itemsize is None else itemsize * int(np.prod(array.shape))

    def worth(instruction: Instruction) -> int:
        outputs = list(leaves(instruction.shape))
        several = isinstance(instruction.shape, tuple)
        if several and (tuples == "none" or (tuples == "short" and len(outputs) > 5)):
            return 0
        if what == "operations":
            return 1
        return sum(map(size, outputs[:1] if tuples == "first" else outputs))

    halves = {"done": ("-done",), "both": ("-start", "-done"), "start": ("-start",), "none": ()}[pairs]

    def count(text: str) -> Any:
        module = parse(text)
        found: collections.Counter[str] = collections.Counter()
        for name, times in _rounds(module, rounds):
            for instruction in module.computations[name].values():
                kind = instruction.opcode.removesuffix("-start").removesuffix("-done")
                if kind in KINDS and instruction.opcode.removeprefix(kind) in ("", *halves):
                    found[kind] += times * worth(instruction)
        kept = {kind: n for kind, n in found.items() if n}
        return sum(kept.values()) if total else kept

    return count


def _rounds(module: Module, how: str) -> Iterator[tuple[str, int]]:
    """The entry and the bodies of loops, with how often each is taken to run."""
    waiting = [(module.entry, 1)]
    while waiting:
        name, times = waiting.pop()
        yield name, times
        for instruction in module.computations[name].values():
            if instruction.opcode == "while":
                own = int(instruction.attributes["backend_config"].split('"n":"')[1].split('"')[0])
                inside = {"product": times * own, "inner": own, "once": 1, "never": 0}[how]
                waiting.append((instruction.attributes["body"].removeprefix("%"), inside))
