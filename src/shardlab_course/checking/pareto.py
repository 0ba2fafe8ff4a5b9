"""Pareto fronts: what designs move against what they hold, those that no other beats, and where yours is."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from shardlab_judge.costs import Cost, distance
from shardlens import CHART_COLOURS as COLOURS
from shardlens import CHART_TONE as TONE
from shardlens import Chart, Table
from shardlens import charting as charts

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ROWS, CELLS = 12, 56


@dataclasses.dataclass(frozen=True)
class Map:
    """One panel: the designs on the front, yours if there is one, and how much a device may hold.

    Args:
        title: of the panel.
        reached: costs of the front, the one that moves least first.
        mine: what your design costs.
        limit: bytes that a device may hold.
        note: why yours does not count, if it does not.
    """

    title: str
    reached: tuple[Cost, ...]
    mine: Cost | None = None
    limit: float = math.inf
    note: str = ""

    @property
    def away(self) -> float | None:
        """The distance of your design, where it counts."""
        return None if self.mine is None or self.note else distance(self.mine, self.reached)


def drawn(found: tuple[Map, ...]) -> Chart:
    """The picture of maps, side by side."""
    figure, axes = charts.blank(4.6 * len(found) + 0.6, 3.9, len(found))
    for each, one in zip(axes, found):
        _panel(each, one)
    return charts.chart(figure, "\n\n".join(map(text, found)), described(found))


def text(one: Map) -> str:
    """One map in plain characters: letters for the front, `#` for yours, `|` for the limit of memory."""
    points = {**dict(zip(NAMES, one.reached)), **({"#": one.mine} if one.mine else {})}
    low, high = _range([cost.price for cost in points.values()])
    left, right = _range([cost.memory for cost in points.values()] + [one.limit] * math.isfinite(one.limit))
    grid = [[" "] * CELLS for _ in range(ROWS)]
    if math.isfinite(one.limit):
        for row in grid:
            row[_cell(one.limit, left, right, CELLS)] = "|"
    for sign, cost in points.items():
        grid[ROWS - 1 - _cell(cost.price, low, high, ROWS)][_cell(cost.memory, left, right, CELLS)] = sign
    lines = [one.title, *("  |" + "".join(row).rstrip() for row in grid), "  +" + "-" * CELLS]
    return "\n".join([*lines, "   bytes held to the right, bytes moved upwards, both logarithmic", str(_table(one))])


def described(found: tuple[Map, ...]) -> str:
    """The maps in words."""
    said = []
    for one in found:
        front = "; ".join(f"{name}: {c.price:,.0f} bytes moved, {c.memory:,.0f} held" for name, c in zip(NAMES, one.reached))
        limit = f" At most {one.limit:,.0f} bytes may be held." if math.isfinite(one.limit) else ""
        said.append(f"{one.title}. On the front {front}.{limit} {_place(one)}")
    return "Bytes moved against bytes held on a device. " + " ".join(said)


def _table(one: Map) -> Table:
    rows = [(name, f"{c.price:,.0f}", f"{c.memory:,.0f}") for name, c in zip(NAMES, one.reached)]
    rows += [("# yours", f"{one.mine.price:,.0f}", f"{one.mine.memory:,.0f}")] if one.mine else []
    limit = f"| at most {one.limit:,.0f} bytes may be held" if math.isfinite(one.limit) else ""
    lines = tuple(line for line in (limit, _place(one)) if line)
    return Table(("design", "bytes moved", "bytes held"), ("left", "right", "right"), tuple(rows), lines)


def _place(one: Map) -> str:
    if one.mine is None:
        return ""
    where = f"Yours: {one.mine.price:,.0f} bytes moved, {one.mine.memory:,.0f} held"
    if one.away is None:
        return f"{where}; it does not count: {one.note}"
    return f"{where}; " + ("no design beats it." if one.away == 1 else f"{one.away:.2f} times as far out as the nearest.")


def _panel(axes: Any, one: Map) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    costs = [*one.reached, *([one.mine] if one.mine else [])]
    left, right = _range([c.memory for c in costs] + [one.limit] * math.isfinite(one.limit))
    low, high = _range([c.price for c in costs])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left / 1.25, right * 1.4)
    # A design may move nothing, and a logarithmic axis has no 0.
    axes.set_ylim(max(low, 1) / 1.4, max(high, 2) * 1.4)
    beside = {"textcoords": "offset points", "fontsize": 9}
    by_memory = sorted(one.reached, key=lambda cost: cost.memory)
    axes.plot(
        [c.memory for c in by_memory],
        [c.price for c in by_memory],
        color=COLOURS[0],
        drawstyle="steps-post",
        linewidth=1.6,
        marker="o",
        markersize=6,
    )
    for name, cost in zip(NAMES, one.reached):
        axes.annotate(name, (cost.memory, cost.price), (5, 5), color=COLOURS[0], **beside)
    if math.isfinite(one.limit):
        axes.axvline(one.limit, color=TONE, linestyle=":", linewidth=1.4)
        axes.annotate("room", (one.limit, high), (3, 0), color=TONE, **beside)
    if one.mine:
        axes.plot([one.mine.memory], [max(one.mine.price, 1)], marker="D", markersize=8, color=COLOURS[1], linestyle="none")
        said = "yours" if one.away is None else f"yours, {one.away:.2f}"
        axes.annotate(said, (one.mine.memory, max(one.mine.price, 1)), (7, -12), color=COLOURS[1], **beside)
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        axis.set_major_locator(FixedLocator(_ticks(*limits)))
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axis.set_minor_locator(NullLocator())
    axes.set_xlabel("bytes held by a device")
    axes.set_ylabel("bytes moved by a device")
    axes.set_title(one.title, fontsize=10)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between the limits."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [tick for k in exponents for step in (1, 2, 5) if low <= (tick := step * 10.0**k) <= high]


def _range(values: list[float]) -> tuple[float, float]:
    positive = [value for value in values if value > 0] or [1.0]
    return min(positive), max(positive)


def _cell(value: float, low: float, high: float, cells: int) -> int:
    """Where a value falls on a logarithmic scale of so many cells; nothing moved is at the bottom."""
    if value <= low or high <= low:
        return 0
    return round((cells - 1) * math.log(value / low) / math.log(high / low))
