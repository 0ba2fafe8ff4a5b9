"""Which matrix products of a compiled program could run while a collective is under way. No JAX here.

Two operations can run beside each other if neither waits for what the other gives. That is a fact of the program; whether
a machine makes use of it is not.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Iterable

from shardlab.programs.reading.depth import Chains, Depth, Unknown
from shardlab.programs.reading.hlo import Array, Instruction, Module, parse


@dataclasses.dataclass(frozen=True)
class Overlap:
    """One run of a collective, and one device's FLOPs in matrix products.

    Args:
        name: of the collective, in the HLO.
        before: in products that it waits for.
        beside: in products that neither wait for it nor it for them.
        after: in products that wait for it.
    """

    name: str
    before: int
    beside: int
    after: int


def overlaps(hlo_text: str, counted: Collection[str]) -> tuple[Overlap, ...] | None:
    """Each run of a collective with the products around it, loops followed round by round.

    Products are HLO's `dot`s, as the CPU backend writes them.

    Args:
        hlo_text: what `compiled.as_text()` returns.
        counted: names of the collectives, as `shardlab.programs.reading.collectives.read_collectives` finds them.
    Returns:
        `None` when a loop with one of them runs an unknown number of times, or too often to be followed.
    Raises:
        ShardlabError: the text is not that of an HLO module.
    """
    try:
        found = _Runs(parse(hlo_text), frozenset(counted))
    except Unknown:
        return None
    return tuple(found.around(k) for k, flops in enumerate(found.flops) if flops is None)


class _Runs(Chains):
    """Runs of collectives and products; the place of "depth" is taken by a set of runs, as the bits of a number."""

    def __init__(self, module: Module, counted: frozenset[str]) -> None:
        self.names: list[str] = []
        self.flops: list[int | None] = []
        self.waits: list[int] = []
        super().__init__(module, counted)

    def most(self, depths: Iterable[Depth]) -> int:
        """All runs in any of these sets."""
        union = 0
        for d in depths:
            union |= d if isinstance(d, int) else self.most(d)
        return union

    def event(self, i: Instruction, computation: str) -> bool:
        """Whether it is a collective or a product."""
        return i.name in self.counted or i.opcode == "dot"

    def ran(self, i: Instruction, computation: str, before: int) -> int:
        """The runs before this one, and itself."""
        self.names.append(i.name)
        self.waits.append(before)
        self.flops.append(None if i.name in self.counted else _flops(i, self.module.computations[computation]))
        return before | 1 << len(self.names) - 1

    def around(self, run: int) -> Overlap:
        """The products before, beside and after a run."""
        sums = [0, 0, 0]
        for k, flops in enumerate(self.flops):
            where = 0 if self.waits[run] >> k & 1 else 2 if self.waits[k] >> run & 1 else 1
            sums[where] += flops or 0
        return Overlap(self.names[run], *sums)


def _flops(i: Instruction, around: dict[str, Instruction]) -> int:
    """Two for each product of numbers, as compilers count."""
    made, left = i.shape, around[i.operands[0]].shape
    summed = map(int, re.findall(r"\d+", i.attribute("lhs_contracting_dims")))
    return 2 * _size(made) * math.prod(left.shape[d] for d in summed) if isinstance(left, Array) else 0


def _size(shape: object) -> int:
    return math.prod(shape.shape) if isinstance(shape, Array) else 0
