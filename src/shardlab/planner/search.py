"""The cheapest placements of a contraction's arrays under a memory bound: ranked by the textbook, the best few compiled."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from shardlab.errors import ShardlabError
from shardlab.expressions.resolution import axes_text
from shardlab.planner.layouts import Layout
from shardlab.planner.plans import Plan, Printed
from shardlab.planner.verification import Verification
from shardlab.programs.reading.collectives import Collective, price, total_bytes
from shardlab.tables import Table

By = Literal["price", "payload", "collectives"]
MOST = 20_000


@dataclasses.dataclass(frozen=True, repr=False)
class Search(Printed):
    """What a search found; prints as a table.

    Args:
        start: the plan that was searched from.
        verified: the textbook's cheapest placements, each compiled; those that are cheapest as compiled first.
        rest: placements that follow by the textbook and were not compiled.
        considered: placements that fit the bound.
        ties: how many of them are not listed and cost by the textbook as much as the last that is.
        memory: the bound, bytes of arguments on one device.
        by: what was made small first.
    """

    start: Plan
    verified: tuple[Verification, ...]
    rest: tuple[Plan, ...]
    considered: int
    ties: int
    memory: int | None
    by: By

    @property
    def plans(self) -> tuple[Plan, ...]:
        """All that are listed: those compiled first."""
        return (*(each.plan for each in self.verified), *self.rest)

    def __rich__(self) -> Table:
        columns = (*self.start.labels, "argument bytes", "FLOPs", f"{self.by}, textbook", f"{self.by}, compiled", "compiled")
        sides = ("left",) * len(self.start.labels) + ("right",) * 4 + ("left",)
        bound = "" if self.memory is None else f", at most {self.memory:,} bytes of arguments a device"
        title = f"{self.start.said.text}   on {axes_text(self.start.axes)}{bound}" if self.plans else "no placement fits"
        return Table(columns, sides, tuple(self._rows()), tuple(self._lines()), title)

    def _rows(self) -> Iterator[tuple[str, ...]]:
        made = [(each.plan, each.program.collectives) for each in self.verified]
        for plan, compiled in (*made, *((plan, None) for plan in self.rest)):
            numbers = (plan.argument_bytes, plan.flops, _cost(plan.collectives, self.by))
            measured = ("-", "not compiled")
            if compiled is not None:
                measured = (f"{_cost(compiled, self.by):,}", ", ".join(c.kind for c in compiled) or "nothing")
            yield (*map(str, plan.arguments), *(f"{n:,.0f}" for n in numbers), *measured)

    def _lines(self) -> Iterator[str]:
        yield f"the textbook's first {len(self.plans)} of {self.considered:,} placements, by {self.by}"
        if self.ties:
            yield f"{self.ties:,} more cost as much as the last of them by the textbook"
        if self.verified:
            yield f"compiled: {len(self.verified)}, by {self.verified[0].compiler}; the cheapest first"


def search(plan: Plan, memory: int | None, by: By, top: int, least: int, keep: Collection[str], measure: int) -> Search:
    """The cheapest placements of the plan's arrays: see `Plan.search`."""
    options = [_options(plan, label, layout, least, keep) for label, layout in zip(plan.labels, plan.arguments)]
    count = math.prod(map(len, options))
    if count > MOST:
        raise ShardlabError(
            "too-many-placements",
            f"there are {count:,} placements, and at most {MOST:,} are searched.",
            where=f"{plan.said.text}   mesh {axes_text(plan.axes)}",
            mend='keep some arrays where they are, keep="A", ask for more parts=, or plan for a mesh with fewer axes.',
        )
    every = (dataclasses.replace(plan, arguments=pick) for pick in itertools.product(*options))
    fitting = [each for each in every if memory is None or each.argument_bytes <= memory]
    best = heapq.nsmallest(top, fitting, key=lambda each: _key(each, by))
    last = _cost(best[-1].collectives, by) if best else 0
    ties = sum(_cost(each.collectives, by) == last for each in fitting) - sum(_cost(b.collectives, by) == last for b in best)
    verified = sorted((each.verify() for each in best[:measure]), key=lambda each: _cost(each.program.collectives, by))
    return Search(plan, tuple(verified), tuple(best[measure:]), len(fitting), ties, memory, by)


def _options(plan: Plan, label: str, layout: Layout, least: int, keep: Collection[str]) -> list[Layout]:
    """Placements of one array."""
    if label in keep:
        return [layout]
    made = (
        layout.placed(
            {name: tuple(axis for (axis, _), own in zip(layout.axes, owners) if own == name) for name in layout.names}
        )
        for owners in itertools.product((None, *layout.names), repeat=len(layout.axes))
    )
    return [one for one in made if math.prod(one.parts) >= least and not any(n % p for n, p in zip(one.shape, one.parts))]


def _key(plan: Plan, by: By) -> tuple[float, ...]:
    sent = plan.collectives
    return (_cost(sent, by), price(sent), len(sent), plan.flops, plan.argument_bytes)


def _cost(sent: Sequence[Collective], by: By) -> int:
    return len(sent) if by == "collectives" else price(sent) if by == "price" else total_bytes(sent)
