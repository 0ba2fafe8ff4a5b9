"""Programs that one function became on several targets, side by side: collectives, their bytes, and the memory."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence

from shardlens.programs.program import Program
from shardlens.programs.table import flops_text, or_unknown
from shardlens.reading.collectives import Collective, price
from shardlens.tables import Table, Tabled


@dataclasses.dataclass(frozen=True, repr=False)
class Comparison(Tabled):
    """The programs that compilers made of one function, by target, in the order asked for.

    Args:
        programs: target and program; "here" is this machine's own backend.
    Example:
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> found = lens.compare(lambda x: x + 1, [x], targets=["here"])
        >>> [target for target, _ in found.programs], found["here"].price
        (['here'], 0)
    """

    programs: tuple[tuple[str, Program], ...]

    def __getitem__(self, target: str) -> Program:
        return dict(self.programs)[target]

    def _table(self) -> Table:
        programs = [program for _, program in self.programs]
        names = [f"{name} ({program.devices} {program.platform.upper()})" for name, program in self.programs]
        keys = dict.fromkeys((c.kind, c.axes) for program in programs for c in program.collectives)
        rows = [(f"{kind} over {', '.join(axes) or '-'}", *(_cell(p, kind, axes) for p in programs)) for kind, axes in keys]
        rows += [
            ("all collectives, bytes", *(_bytes(p.collectives) for p in programs)),
            ("price", *(or_unknown(price, p.collectives) for p in programs)),
            ("FLOPs", *(flops_text(p.flops) for p in programs)),
            *((f"{field}, bytes", *(f"{getattr(p.memory, field):,}" for p in programs)) for field in _MEMORY),
        ]
        columns = ("on one device", *names)
        return Table(columns, ("left", *("right" for _ in names)), tuple(rows), tuple(self._notes()))

    def _notes(self) -> list[str]:
        platforms = {program.platform for _, program in self.programs}
        if "cpu" not in platforms or len(platforms) == 1:
            return []
        return ["A CPU runs bf16 collectives in f32, and its temporary and peak bytes say nothing about an accelerator."]


_MEMORY = ("argument", "output", "temp", "alias", "peak")


def _cell(program: Program, kind: str, axes: tuple[str, ...]) -> str:
    """How many, of which element types, and their bytes: `2 bf16, 4,096`."""
    same = [c for c in program.collectives if (c.kind, c.axes) == (kind, axes)]
    if not same:
        return "-"
    dtypes = collections.Counter(dtype for c in same for dtype, _ in c.arrays or ((c.dtype, c.shape),))
    return f"{len(same)} {'+'.join(dtypes)}, {_bytes(same)}"


def _bytes(found: Sequence[Collective]) -> str:
    """Payload bytes times executions; a question mark where one of these is not known."""
    known = [c.payload_bytes * c.executions for c in found if c.executions is not None and not c.uncounted]
    return f"{sum(known):,}" if len(known) == len(found) else "?"
