"""Which arithmetic of a compiled program could run while a collective is under way. No JAX here.

Two operations can run beside each other if neither waits for what the other gives. That is a fact of the program; whether
a machine makes use of it is not.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Iterable, Mapping

from shardlens.reading.calls import calls
from shardlens.reading.depth import Chains, Depth, Unknown
from shardlens.reading.hlo import HloArray, HloInstruction, HloModule, parse_hlo
from shardlens.reading.loops import Loops

# A product of matrices may be written as multiply-and-sum, and its multiplications as exponentials of sums of logarithms.
_ELEMENTWISE = frozenset(
    """
    atan2 cbrt cosine divide erf exponential exponential-minus-one log log-plus-one logistic multiply power remainder rsqrt
    sine sqrt tan tanh
    """.split()
)
_REGIONS = frozenset({"map", "reduce", "reduce-window", "scatter", "select-and-scatter"})
RUNS = 4096
"""More runs than this are not followed: each is compared with each."""


@dataclasses.dataclass(frozen=True)
class Overlap:
    """One run of a collective, and one device's FLOPs: two for each multiplication of floats, however it is written.

    Args:
        name: of the collective, in the HLO.
        before: in arithmetic that it waits for.
        beside: in arithmetic that does not wait for it, and for which it does not wait.
        after: in arithmetic that waits for it.
    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> x = jax.ShapeDtypeStruct((8, 4), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))
        >>> program = lens.inspect(lambda x, w: (x.sum(0), w @ w), x, np.ones((8, 8), np.float32))
        >>> program.overlaps[0].beside
        1024
    """

    name: str
    before: int
    beside: int
    after: int


def overlaps(hlo_text: str, counted: Collection[str]) -> tuple[Overlap, ...] | None:
    """Each run of a collective with the arithmetic around it, loops followed round by round.

    Arithmetic is HLO's `dot`s and `convolution`s, as the CPU backend writes them, and what multiplies elements of floats.

    Args:
        hlo_text: what `compiled.as_text()` returns.
        counted: names of the collectives, as `shardlens.reading.collectives.read_collectives` finds them.
    Returns:
        `None` when a loop with one of them runs an unknown number of times, or too often to be followed.
    Raises:
        LensError: the text is not that of an HLO module.
    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> x = jax.ShapeDtypeStruct((8, 4), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))
        >>> program = lens.inspect(lambda x, w: (x.sum(0), w @ w), x, np.ones((8, 8), np.float32))
        >>> overlaps(program.hlo, {c.name for c in program.collectives})
        (Overlap(name='all-reduce', before=0, beside=1024, after=0),)
    """
    try:
        found = _Runs(parse_hlo(hlo_text), frozenset(counted), calls(hlo_text).loops)
    except Unknown:
        return None
    return tuple(found.around(k) for k, flops in enumerate(found.flops) if flops is None)


def longest_overlap(hlo_text: str, takes: Mapping[str, float]) -> float | None:
    """FLOPs that one device could do in the time that the program takes at least, in whatever order it is run.

    Arithmetic is done one piece after another, and collectives run beside it as soon as what they take is there.

    Args:
        hlo_text: what `compiled.as_text()` returns.
        takes: for the name of each collective the FLOPs that a device could do in the time of one run.
    Returns:
        `None` as for `overlaps`.
    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> x = jax.ShapeDtypeStruct((8, 4), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))
        >>> program = lens.inspect(lambda x, w: (x.sum(0), w @ w), x, np.ones((8, 8), np.float32))
        >>> longest_overlap(program.hlo, {program.collectives[0].name: 300.0})
        1024.0
    """
    try:
        found = _Runs(parse_hlo(hlo_text), frozenset(takes), calls(hlo_text).loops)
    except Unknown:
        return None
    return found.longest_way(takes)


class _Runs(Chains):
    """Runs of collectives and arithmetic; the place of "depth" is taken by a set of runs, as the bits of a number."""

    def __init__(self, module: HloModule, counted: frozenset[str], loops: Loops) -> None:
        self.names: list[str] = []
        self.flops: list[int | None] = []
        self.waits: list[int] = []
        super().__init__(module, counted, loops)

    def most(self, depths: Iterable[Depth]) -> int:
        """All runs in any of these sets."""
        union = 0
        for d in depths:
            union |= d if isinstance(d, int) else self.most(d)
        return union

    def event(self, i: HloInstruction, computation: str) -> bool:
        """Whether it is a collective or arithmetic."""
        return i.name in self.counted or self.multiplies(i)

    def multiplies(self, i: HloInstruction) -> bool:
        """Whether an instruction is a product, or multiplies floats element by element, itself or in what it applies."""
        if i.opcode in ("dot", "convolution"):
            return True
        if i.opcode in _REGIONS:
            return any(any(map(self.multiplies, self.module.computations[name].values())) for name in self.callees(i))
        return i.opcode in _ELEMENTWISE and isinstance(i.shape, HloArray) and i.shape.dtype[:1] in ("f", "b", "c")

    def ran(self, i: HloInstruction, computation: str, before: int) -> int:
        """The runs before this one, and itself."""
        if len(self.names) == RUNS:
            raise Unknown
        self.names.append(i.name)
        self.waits.append(before)
        self.flops.append(None if i.name in self.counted else _flops(i, self.module.computations[computation]))
        return before | 1 << len(self.names) - 1

    def around(self, run: int) -> Overlap:
        """The arithmetic before, beside and after a run."""
        sums = [0, 0, 0]
        for k, flops in enumerate(self.flops):
            where = 0 if self.waits[run] >> k & 1 else 2 if self.waits[k] >> run & 1 else 1
            sums[where] += flops or 0
        return Overlap(self.names[run], *sums)

    def longest_way(self, takes: Mapping[str, float]) -> float:
        """The largest sum of FLOPs and collectives in which each has to wait for the one before; at least all FLOPs."""
        import numpy as np  # here, since a browser reads programs without it

        count = len(self.names)
        waits = np.array([[bits >> k & 1 for k in range(count)] for bits in self.waits], float).reshape(count, count)
        flops = np.array([run or 0 for run in self.flops], float)
        moves = [k for k, run in enumerate(self.flops) if run is None]
        before, after = waits[moves] @ flops, flops @ waits[:, moves]
        between = (waits[moves] * flops) @ waits[:, moves]
        ends: list[float] = []
        for a, k in enumerate(moves):
            earlier = [ends[b] + between[a, b] for b in range(a) if waits[k, moves[b]]]
            ends.append(max([before[a], *earlier]) + takes[self.names[k]])
        return float(max([flops.sum(), *(end + rest for end, rest in zip(ends, after))]))


def _flops(i: HloInstruction, around: dict[str, HloInstruction]) -> int:
    """Two for each multiplication, as compilers count products."""
    operands = [around[name].shape for name in i.operands]
    if i.opcode == "dot":
        left, summed = operands[0], re.findall(r"\d+", i.attribute("lhs_contracting_dims"))
        return 2 * _size(i.shape) * math.prod(left.shape[int(d)] for d in summed) if isinstance(left, HloArray) else 0
    if i.opcode == "convolution":
        made, kernel = i.shape, operands[1]
        features = i.attribute("dim_labels").rpartition("->")[2].index("f")
        return 2 * _size(made) * _size(kernel) // made.shape[features] if isinstance(made, HloArray) else 0
    return 2 * (max(map(_size, operands)) if i.opcode in _REGIONS else _size(i.shape))


def _size(shape: object) -> int:
    return math.prod(shape.shape) if isinstance(shape, HloArray) else 0
