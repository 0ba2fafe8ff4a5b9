"""`show_roofline`: how fast a chip can go, by how many FLOPs it does for each byte that it moves."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from shardlens.charts import charting as charts
from shardlens.charts.charting import CHART_COLOURS, CHART_TONE, DASHES, MARKERS, Chart
from shardlens.costs.chips import Chip, chip
from shardlens.errors import LensError
from shardlens.programs.program import Program
from shardlens.tables import Table

DTYPES = {"bf16": 2, "int8": 1, "fp8": 1}
"""Bytes of an element."""
NETWORK_NOTE = (
    "network: both directions of one axis of the torus, or all that a GPU can send to its switches; "
    "a program that overlaps its communication can use this much"
)


@dataclasses.dataclass(frozen=True)
class Work:
    """What is placed under the roof: operations on one device, bytes of its memory that move, bytes over one link axis."""

    flops: float
    memory_bytes: float
    network_bytes: float = 0.0


@dataclasses.dataclass(frozen=True)
class Roof:
    """Peak operations a second, and bytes a second of what they are fed from."""

    name: str
    peak: float
    bandwidth: float

    @property
    def ridge(self) -> float:
        """FLOPs a byte where the roof turns flat."""
        return self.peak / self.bandwidth

    def at(self, intensity: float) -> float:
        """Operations a second that can be reached."""
        return min(self.peak, self.bandwidth * intensity)


def matmul(batch: int, d: int, f: int, dtype: str = "bf16") -> Work:
    """The product of activations [batch, d] and weights [d, f] on one device, each read or written once.

    Example:
        >>> work = matmul(240, 8192, 32768)
        >>> round(work.flops / work.memory_bytes)
        232
    """
    size = _size(dtype)
    return Work(2.0 * batch * d * f, float(size * (batch * d + d * f + batch * f)))


def show_roofline(
    chips: str | Chip | Sequence[str | Chip] = "v5e",
    batches: Sequence[int] = (1, 8, 64, 240, 1024),
    *,
    dtypes: str | Sequence[str] = "bf16",
    programs: Mapping[str, Program | Work] | None = None,
    network: bool = False,
    d: int = 8192,
    f: int = 32768,
) -> Chart:
    """Roofs of chips, and under them matmuls of several batch sizes, or programs.

    Args:
        chips: names or `Chip`s; each gets a line.
        batches: rows of the activations of a matmul [batch, d] x [d, f] on one device.
        dtypes: "bf16", "int8" or "fp8", or several; the chip must have it.
        programs: from `inspect`, or `Work`, by name; shown in place of the batches.
        network: whether to show the roof of the links beside that of the memory.
        d, f: sizes of the weights.
    Returns:
        a picture whose `figure` is a matplotlib figure.
    Raises:
        LensError: there are no numbers for a chip or an element type.
    Example:
        >>> show_roofline("v5e", batches=(1, 1024))
        roof         work          FLOPs a byte  reachable FLOPs/s  bound by
        v5e, memory  (turns flat)           240           1.97e+14
        v5e, memory  B=1                    1.0            8.2e+11  memory
        v5e, memory  B=1024               885.6           1.97e+14  compute
        B=n: a matmul [n, 8192] x [8192, 32768] on one device, each array moved once
    """
    found = [chip(c) if isinstance(c, str) else c for c in ([chips] if isinstance(chips, (str, Chip)) else chips)]
    kinds = [dtypes] if isinstance(dtypes, str) else list(dtypes)
    panels = ["memory", "network"] if network else ["memory"]
    roofs = {panel: [(_roof(c, kind, panel, len(kinds) > 1), kind) for c in found for kind in kinds] for panel in panels}
    works = {kind: _works(batches, programs, kind, d, f) for kind in kinds}
    figure, axes = charts.blank(4.9 * len(panels) + 1.2, 3.9, len(panels))
    for panel, each in zip(panels, axes):
        _draw(each, panel, roofs[panel], works)
    rows = tuple(row for panel in panels for roof, kind in roofs[panel] for row in _rows(panel, roof, works[kind]))
    table = Table(_COLUMNS, _SIDES, rows, tuple(_notes(network, programs, d, f)))
    return charts.chart(figure, str(table), _described(rows))


_COLUMNS = ("roof", "work", "FLOPs a byte", "reachable FLOPs/s", "bound by")
_SIDES = ("left", "left", "right", "right", "left")


def _roof(on: Chip, dtype: str, panel: str, several: bool) -> Roof:
    if _size(dtype) and dtype not in on.peak:
        raise LensError(
            "no-roof",
            f"{on.name} has no peak rate for {dtype}.",
            where=f"dtypes={dtype!r}",
            mend=f"name {' or '.join(on.peak)}; or make a Chip whose `peak` has it.",
        )
    peak = on.peak[dtype]
    name = f"{on.name} {dtype}" if several else on.name
    both = 2 if on.torus_axes else 1
    return Roof(name, peak, on.hbm_bandwidth if panel == "memory" else both * on.link_bandwidth)


def _size(dtype: str) -> int:
    if dtype not in DTYPES:
        raise LensError(
            "no-roof",
            f"there are no peak rates for {dtype!r}.",
            where=f"dtypes={dtype!r}",
            mend=f"name {' or '.join(DTYPES)}; for another, make a Chip whose `peak` has it.",
        )
    return DTYPES[dtype]


Programs = Mapping[str, Program | Work]


def _works(batches: Sequence[int], programs: Programs | None, dtype: str, d: int, f: int) -> dict[str, Work]:
    if programs is None:
        return {f"B={batch}": matmul(batch, d, f, dtype) for batch in batches}
    return {name: p if isinstance(p, Work) else _work(p) for name, p in programs.items()}


def _work(program: Program) -> Work:
    moved = sum(max(c.payload_bytes, c.operand_bytes) * (2 if c.kind == "all-reduce" else 1) for c in program.collectives)
    return Work(program.least_flops, program.memory.argument + program.memory.output, moved)


def _intensity(work: Work, panel: str) -> float | None:
    nbytes = work.memory_bytes if panel == "memory" else work.network_bytes
    return work.flops / nbytes if nbytes and work.flops else None


def _draw(axes: Any, panel: str, roofs: list[tuple[Roof, str]], works: Mapping[str, Mapping[str, Work]]) -> None:
    points = [x for kind in works.values() for work in kind.values() if (x := _intensity(work, panel))]
    ridges = [roof.ridge for roof, _ in roofs]
    low, high = min([*points, *ridges]) / 3, max([*points, *ridges]) * 4
    beside = {"textcoords": "offset points"}
    for k, (roof, kind) in enumerate(roofs):
        colour = CHART_COLOURS[k % len(CHART_COLOURS)]
        xs = [low, roof.ridge, high]
        axes.plot(xs, [roof.at(x) for x in xs], color=colour, linestyle=DASHES[k % len(DASHES)], linewidth=2)
        axes.annotate(roof.name, (high, roof.peak), (-2, 4), ha="right", color=colour, fontsize=9.5, **beside)
        axes.plot([roof.ridge] * 2, [0, roof.peak], color=colour, linewidth=0.8, linestyle=":", alpha=0.8)
        for name, work in works[kind].items():
            if x := _intensity(work, panel):
                axes.plot([x], [roof.at(x)], marker=MARKERS[k % len(MARKERS)], color=colour, markersize=6, linestyle="none")
                if k == 0:
                    axes.annotate(name, (x, roof.at(x)), (5, -11), color=CHART_TONE, fontsize=8.5, **beside)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_minor_formatter("")
    axes.set_xlim(low, high)
    axes.set_ylim(min(roof.at(low) for roof, _ in roofs) / 1.5, max(roof.peak for roof, _ in roofs) * 2)
    axes.set_xlabel("FLOPs for each byte " + ("of memory traffic" if panel == "memory" else "over the links"))
    axes.set_ylabel("FLOPs a second")
    axes.set_title({"memory": "memory roof", "network": "interconnect roof"}[panel], fontsize=10)


def _rows(panel: str, roof: Roof, works: Mapping[str, Work]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [(f"{roof.name}, {panel}", "(turns flat)", f"{roof.ridge:,.0f}", f"{roof.peak:.3g}", "")]
    for name, work in works.items():
        if x := _intensity(work, panel):
            bound = panel if x < roof.ridge else "compute"
            rows.append((f"{roof.name}, {panel}", name, f"{x:,.1f}", f"{roof.at(x):.3g}", bound))
    return rows


def _notes(network: bool, programs: object, d: int, f: int) -> list[str]:
    lines = [] if programs is not None else [f"B=n: a matmul [n, {d}] x [{d}, {f}] on one device, each array moved once"]
    return lines + [NETWORK_NOTE] * network


def _described(rows: Sequence[tuple[str, ...]]) -> str:
    said = [
        f"{roof}: {name} at {x} FLOPs a byte reaches {y} FLOPs a second{f', bound by {by}' if by else ''}"
        for roof, name, x, y, by in rows
    ]
    return "Roofline, logarithmic axes. " + "; ".join(said) + "."
