"""What the compiler made of a function, as a record: collectives, memory, FLOPs, output placements, HLO."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterator
from typing import Any

from shardlens.costs.chips import Chip
from shardlens.costs.cost import Cost, cost
from shardlens.placement import Placement
from shardlens.programs.figures import figures
from shardlens.programs.grouping import ROWS, grouped_table
from shardlens.programs.memory import Memory
from shardlens.programs.occupied import occupied
from shardlens.programs.table import collectives_table, flops_text, summary
from shardlens.reading.arithmetic import least
from shardlens.reading.calls import calls, largest_array
from shardlens.reading.collectives import Collective, price, total_bytes
from shardlens.reading.depth import depth
from shardlens.reading.hlo import parse_hlo
from shardlens.reading.outside import HostCall, host_calls, kernels
from shardlens.reading.overlap import Overlap, overlaps
from shardlens.tables import Table, shares


@dataclasses.dataclass(frozen=True, repr=False)
class Program:
    """A compiled program; everything in it is for one device.

    On the CPU backend a collective of bf16 arrays runs in f32, at twice the bytes, of f8 and f4 ones in f16, and of s4 ones
    in s8; on a TPU each stays as written.

    Args:
        collectives: in the order of the HLO text.
        flops: floating-point operations, as the compiler counts them, and a loop's as often as it runs; `None` when data
            decides how often.
        hlo: the compiled HLO text.
        output_placements: one for each output array, in the order of `jax.tree.leaves`.
        devices: how many devices run the program.
        platform: `"cpu"`, `"gpu"` or `"tpu"`.
        warnings: what JAX and XLA warned of as they compiled, a sentence each; none where it was compiled before.
        refused: the compiler's words where the program does not fit into a device's memory; all else is told all the same.
    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> x = jax.ShapeDtypeStruct((8, 4), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))
        >>> program = lens.inspect(lambda x: x.sum(0), x)
        >>> program.kinds, program.price
        (frozenset({'all-reduce'}), 32)
    """

    collectives: tuple[Collective, ...]
    memory: Memory
    flops: float | None
    hlo: str = dataclasses.field(compare=False)
    output_placements: tuple[Placement, ...]
    devices: int
    platform: str
    warnings: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    refused: str = dataclasses.field(default="", compare=False)

    @property
    def least_flops(self) -> float:
        """`flops`, and where data decides how often a loop runs, those of a program that runs it once."""
        return self.flops if self.flops is not None else least(self.hlo)

    @property
    def payload_bytes(self) -> int:
        """Bytes of all collectives' outputs, times executions: see `shardlens.reading.collectives.total_bytes`."""
        return total_bytes(self.collectives)

    @property
    def price(self) -> int:
        """Bytes that one device moves: see `shardlens.reading.collectives.price`."""
        return price(self.collectives)

    @functools.cached_property
    def depth(self) -> int | None:
        """Collectives in the longest chain of those that wait for one another; `None` where loops hide it."""
        return depth(self.hlo, {c.name for c in self.collectives}) if self.collectives else 0

    @functools.cached_property
    def largest(self) -> int:
        """Bytes of the largest array that it makes, or is given, on a device: see `reading.calls.largest_array`."""
        return largest_array(self.hlo)

    @functools.cached_property
    def overlaps(self) -> tuple[Overlap, ...] | None:
        """Each run of a collective with the matrix products around it: see `shardlens.reading.overlap`.

        For the CPU backend's programs; `None` where loops hide it.
        """
        return overlaps(self.hlo, {c.name for c in self.collectives}) if self.collectives else ()

    @functools.cached_property
    def chosen(self) -> tuple[Collective, ...]:
        """Those collectives that run if a conditional takes the branch that they are in; all branches are counted."""
        if not self.collectives or " conditional(" not in self.hlo:
            return ()
        module, found = parse_hlo(self.hlo), calls(self.hlo).chosen
        names = {name for computation in found for name in module.computations[computation]}
        return tuple(c for c in self.collectives if c.name in names)

    @functools.cached_property
    def host_calls(self) -> tuple[HostCall, ...]:
        """What a device sends to its host and takes from it; not part of the price."""
        return host_calls(self.hlo)

    @property
    def too_large(self) -> str:
        """What a program that does not fit needs, and the compiler's words for what there is; empty for one that fits."""
        return f"does not fit: {self.refused} A device needs {self.memory.main:,} bytes." if self.refused else ""

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of collectives that run."""
        return frozenset(c.kind for c in self.collectives)

    def cost(self, on: Chip | str, rings: Collection[str] | None = None, in_network: bool = False) -> Cost:
        """What a model of the chip says of this program's time: see `shardlens.costs.cost.cost`."""
        return cost(self, on, rings, in_network)

    def to_json(self, target: str | None = None) -> dict[str, Any]:
        """All of it as plain JSON, as `inspect --json` writes it: see `shardlens.programs.figures`.

        `programs/figures.schema.json` is its schema; `diff` compares two of these.

        Args:
            target: what it was compiled for, where that was not the devices here.
        Example:
            >>> told = lens.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32")).to_json()
            >>> told["schema"], told["price"], told["memory"]["output"]
            (1, 0, 16)
        """
        return figures(self, target)

    def by(self, what: str = "equal", width: int = 80) -> Table:
        """Its collectives in at most twenty rows, the most expensive first: see `shardlens.programs.grouping.grouped`."""
        return grouped_table(self.collectives, self.hlo, what, tuple(self._lines()), self._on_a_device(), width)

    def occupied(self, on: str = "") -> Table:
        """What occupies a device's main memory at the peak, held against a chip's: see `shardlens.programs.occupied`."""
        return occupied(self.memory, self.hlo, on)

    def _table(self, width: int = 120) -> Table:
        if len(self.collectives) > ROWS:
            return self.by(width=width)
        return collectives_table(self.collectives, tuple(self._lines()), self._on_a_device(), width)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Table]:
        yield self._table(options.max_width)

    def __str__(self) -> str:
        return str(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().html()

    def _lines(self) -> Iterator[str]:
        """What stands below the table."""
        where = f"{self.devices} {self.platform.upper()} device{'s' if self.devices > 1 else ''}"
        if self.refused:
            yield self.too_large
        if count := len(self.chosen):
            words = "in branches of a conditional: all count each time it is reached, but only one branch runs"
            yield f"{count} of them {words}"
        if any(c.executions is None for c in self.collectives):
            yield "?: in a loop whose number of rounds depends on data"
        for c in (c for c in self.collectives if c.uncounted):
            yield f"unknown: what {c.name} moves cannot be counted, because it is {c.uncounted}"
        if "ragged-all-to-all" in self.kinds:
            yield "<=: data decides how much of its buffers a ragged all-to-all fills"
        if self.collectives:
            yield from summary(self.collectives, where)
        else:
            yield f"no collectives: {where}" + (", and nothing moves between them" if self.devices > 1 else "")
        for call in self.host_calls:
            yield f"host: {_said(call)}"
        yield from self.warnings

    def _on_a_device(self) -> Table:
        m = self.memory
        sizes = {"arguments": m.argument, "outputs": m.output, "temporary": m.temp, "peak": m.peak}
        sizes |= {"main memory, at most": m.main} if m.main < m.peak else {}
        sizes |= {"on the host": m.host} if m.host else {}
        rows = tuple((name, f"{size:,}") for name, size in sizes.items())
        inside = f", and what {count} Pallas kernels do" if (count := kernels(self.hlo)) else ""
        below = (f"FLOPs a device: {flops_text(self.flops)}{inside}",)
        after = self.occupied() if self.refused else None
        columns, sides = ("memory of a device", "bytes"), ("left", "right")
        return Table(columns, sides, rows, below, bars=shares([*sizes.values()]), after=after)


def _said(call: HostCall) -> str:
    """A call of the host in one line."""
    times = "once" if call.executions == 1 else f"{call.executions if call.executions is not None else '?'} times"
    what = " ".join(filter(None, (call.op_name.rpartition("/")[2] or call.name, call.source)))
    return f"{call.out:,} bytes out, {call.into:,} in, {times}: {what}; not part of the price"
