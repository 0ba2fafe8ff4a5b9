"""What occupies a device's main memory beside arguments and outputs, when it is made and when it is no more needed. No JAX.

A compiled text is a schedule: its lines run in their order. An array takes the place of an operand where compilers let it:
loops carry theirs in place, and so does what is updated in a slice. It is a count of its own, to be held beside the
compiler's. The compiler also plans work space that no array of the text stands for, and it may keep a temporary array where
an output will be written later. So this count may be larger, by at most the outputs.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import math
import re
from collections.abc import Sequence

from shardlens.reading.hlo import HloArray, HloInstruction, HloModule, Shape, hlo_leaves, parse_hlo, split

Place = tuple[str, int]
"""An array: the instruction that makes it, and its place in what that returns."""
Values = dict[str, list[Place | None]]

_LAYOUT = re.compile(r"\]\{([\d,]*)(?::T\(([\d,]+)\))?")
_SPACE = re.compile(r"S\(\d+\)")
_SAME = ("bitcast", "optimization-barrier", "add-dependency", "while", "tuple")
_NOTHING = ("parameter", "constant", "after-all", "partition-id", "replica-id")
_CALLS = re.compile(
    r"\b(?:body|condition|to_apply|calls|branch_computations|true_computation|false_computation)=(\{[^}]*\}|%?[^\s,{}]+)"
)


@dataclasses.dataclass(frozen=True)
class Buffer:
    """One temporary array.

    Args:
        name: of the instruction that makes it.
        computation: which one that is in.
        bytes: with the padding of its tiles.
        made: its place in the schedule of its computation.
        dies: the place after which nothing takes it.
    """

    name: str
    computation: str
    bytes: int
    made: int
    dies: int


@dataclasses.dataclass(frozen=True)
class Peak:
    """Temporary arrays that are alive together when these take most: bytes of all, and each, those of a loop then too."""

    bytes: int = 0
    buffers: tuple[Buffer, ...] = ()


def temporaries(hlo_text: str) -> Peak:
    """The temporary arrays of a program at the place of its schedule where they take most of the main memory, largest first.

    Raises:
        LensError: the text is not that of an HLO module.
    Example:
        >>> x = jax.ShapeDtypeStruct((64, 64), "float32")
        >>> temporaries(lens.inspect(lambda x: (x @ x) @ x, x).hlo).bytes
        16384
    """
    module = parse_hlo(hlo_text)
    peak = _Schedules(module).peak(module.entry)
    return dataclasses.replace(peak, buffers=tuple(sorted(peak.buffers, key=lambda buffer: -buffer.bytes)))


class _Schedules:
    """Peaks by computation; what a computation returns belongs to whoever calls it."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.peak = functools.cache(self._peak)

    def _peak(self, computation: str) -> Peak:
        instructions = list(self.module.computations[computation].values())
        values, new = self._values(instructions)
        returned = {*values[self.module.roots.get(computation, instructions[-1].name)]}
        taken = [{v for name in i.operands for v in values.get(name, ()) if v} for i in instructions]
        last = {v: k for k, each in enumerate(taken) for v in each}
        # An output is written where its operand was. What a loop hands on is not, while that is still read.
        for k, i in reversed([*enumerate(instructions)]) if computation == self.module.entry else ():
            outputs = [v for v in values[i.name] if v in returned and v in new] if self._in_place(i) else []
            for output in outputs:
                same = (v for v in taken[k] if v in new and last[v] == k and new[v] == new[output] and v not in returned)
                returned |= {*itertools.islice(same, 1)}
        alive: dict[Place, Buffer] = {}
        best = Peak()
        for k, i in enumerate(instructions):
            made = [v for v in values[i.name] if v and v[0] == i.name and v in new and v not in returned]
            alive |= {v: Buffer(i.name, computation, new[v], k, last.get(v, k)) for v in made}
            inner = max((self.peak(name) for name in self._called(i)), key=lambda peak: peak.bytes, default=Peak())
            # An array may take the place of an operand of the same size that nothing takes afterwards.
            dying = collections.Counter(alive[v].bytes for v in taken[k] if v in alive and last[v] == k)
            shared = sum((dying & collections.Counter(new[v] for v in made)).elements()) if self._in_place(i) else 0
            total = sum(b.bytes for b in alive.values()) - shared + inner.bytes
            if total > best.bytes:
                best = Peak(total, (*alive.values(), *inner.buffers))
            alive = {v: b for v, b in alive.items() if b.dies > k}
        return best

    def _values(self, instructions: Sequence[HloInstruction]) -> tuple[Values, dict[Place, int]]:
        """For each instruction its arrays, `None` for what is no temporary of ours; and the bytes of each that is new."""
        values: Values = {}
        new: dict[Place, int] = {}
        shapes = {i.name: i.shape for i in instructions}
        for i in instructions:
            own = self._same(i, values, shapes)
            if own is None:
                arrays, fresh = _arrays(i), _fresh(i)
                own = [(i.name, k) if main and k in fresh else None for k, (_, main) in enumerate(arrays)]
                new |= {place: arrays[place[1]][0] for place in own if place}
            values[i.name] = own
        return values, new

    def _same(self, i: HloInstruction, values: Values, shapes: dict[str, Shape]) -> list[Place | None] | None:
        """The arrays of an instruction that makes none of its own."""
        given = [values.get(name, []) for name in i.operands]
        if i.opcode == "get-tuple-element":
            return _part(given[0], shapes[i.operands[0]], int(i.attribute("index")))
        if i.opcode.endswith("-done") and given:
            return _part(given[0], shapes[i.operands[0]], 0 if i.opcode == "copy-done" else 1)
        if i.opcode in _SAME:
            return [v for each in given for v in each]
        if i.opcode == "dynamic-update-slice" or (i.opcode == "fusion" and self._updates(i)):
            return next((values[name] for name in i.operands if shapes.get(name) == i.shape), None)
        return None

    def _updates(self, i: HloInstruction) -> bool:
        """Whether what a fusion does last is to update a slice."""
        callee = i.attribute("calls").removeprefix("%")
        inside = self.module.computations.get(callee, {})
        root = inside.get(self.module.roots.get(callee, ""))
        while root is not None and root.opcode == "bitcast":
            root = inside.get(root.operands[0])
        return root is not None and root.opcode == "dynamic-update-slice"

    def _in_place(self, i: HloInstruction) -> bool:
        """Whether what an instruction makes may take an operand's place: it reads no element twice."""
        if i.opcode not in ("call", "fusion"):
            return i.opcode == "all-reduce"
        names = (name.strip(" %{}") for name in _CALLS.findall(i.rest.partition(", metadata=")[0]))
        inside = (each.opcode for name in names for each in self.module.computations.get(name, {}).values())
        return not {"dot", "convolution", "reduce-window", "while", "call"} & {*inside}

    def _called(self, i: HloInstruction) -> list[str]:
        if i.opcode not in ("while", "call", "conditional", "async-start"):
            return []
        found = _CALLS.findall(i.rest.partition(", metadata=")[0])
        names = (name.strip(" %{}") for each in found for name in each.split(","))
        return [name for name in names if name in self.module.computations]


def _fresh(i: HloInstruction) -> range:
    """Which of the arrays that an instruction returns are new: the start of a pair names its operand, too."""
    if i.opcode in _NOTHING:
        return range(0)
    if not isinstance(i.shape, tuple) or not i.is_pair:
        return range(len([*hlo_leaves(i.shape)]))
    return _span(i.shape, 0 if i.opcode == "copy-start" else 1)


def _part(value: list[Place | None], whole: Shape, k: int) -> list[Place | None]:
    """Of a tuple's arrays those of one element."""
    if not isinstance(whole, tuple):
        return value
    span = _span(whole, k)
    return value[span.start : span.stop]


def _span(whole: tuple[Shape, ...], k: int) -> range:
    counts = [len([*hlo_leaves(part)]) for part in whole]
    return range(sum(counts[:k]), sum(counts[: k + 1]))


def _arrays(i: HloInstruction) -> list[tuple[int, bool]]:
    """Bytes of each array that an instruction returns, and whether it is in the main memory."""
    texts = _texts(i.text[: len(i.text) - len(i.rest)].partition(f" {i.opcode}(")[0])
    return [(_padded(array, text), not _SPACE.search(text)) for array, text in zip(hlo_leaves(i.shape), texts)]


def _texts(text: str) -> list[str]:
    return [leaf for part in split(text[1:-1]) for leaf in _texts(part)] if text.startswith("(") else [text]


def _padded(array: HloArray, text: str) -> int:
    """Bytes with what tiles add: the last dimensions, in the order of the layout, are cut into tiles."""
    layout = _LAYOUT.search(text)
    if not layout or not layout[2] or not array.nbytes:
        return array.nbytes
    dims = [array.shape[int(d)] for d in layout[1].split(",") if d]
    tile = [int(n) for n in layout[2].split(",")][::-1]
    padded = [math.ceil(n / t) * t for n, t in zip(dims, tile)] + dims[len(tile) :]
    return array.nbytes * math.prod(padded) // math.prod(dims)
