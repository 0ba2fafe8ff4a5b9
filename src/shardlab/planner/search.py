"""The cheapest placements of a contraction's arrays under a memory bound, by the rules for the CPU compiler."""

from __future__ import annotations

import dataclasses
import functools
import heapq
import itertools
import math
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Literal

from shardlab.errors import ShardlabError
from shardlab.expressions.resolution import axes_text
from shardlab.planner.chain import Chain
from shardlab.planner.layouts import Entry, Layout, parts
from shardlab.planner.routes import Route
from shardlab.programs.reading.collectives import price, total_bytes
from shardlab.tables import Table

if TYPE_CHECKING:
    from shardlab.planner.plans import Plan
    from shardlab.planner.verification import Verification

By = Literal["price", "payload", "collectives"]
Key = tuple[float, ...]
MOST = 20_000


@dataclasses.dataclass(frozen=True, repr=False)
class Search:
    """What a search found; prints as a table.

    Args:
        plans: the cheapest first.
        considered: placements that fit the bound.
        unknown: how many of them no rule covers; they are left out.
        memory: the bound, bytes of arguments on one device.
        by: what was made small first.
    """

    plans: tuple[Plan, ...]
    considered: int
    unknown: int
    memory: int | None
    by: By

    def verify(self, top: int = 3) -> tuple[Verification, ...]:
        """Compiles the first few: see `Plan.verify`."""
        return tuple(plan.verify() for plan in self.plans[:top])

    def __rich__(self) -> Table:
        labels = self.plans[0].chain.labels if self.plans else ()
        costs = ("collectives", "payload bytes", "price", "FLOPs", "argument bytes")
        sides = ("left",) * (len(labels) + 1) + ("right",) * (len(costs) - 1)
        return Table((*labels, *costs), sides, tuple(map(_cells, self.plans)), tuple(self._lines()), self._title())

    def __str__(self) -> str:
        return str(self.__rich__())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.__rich__().html()

    def _title(self) -> str:
        if not self.plans:
            return "no placement fits"
        first = self.plans[0]
        bound = "" if self.memory is None else f", at most {self.memory:,} bytes of arguments a device"
        return f"{first.chain.said.text}   on {axes_text(first.axes)}{bound}"

    def _lines(self) -> Iterator[str]:
        yield f"the first {len(self.plans)} of {self.considered:,} placements, by {self.by}"
        if self.unknown:
            yield f"{self.unknown:,} more are left out: no rule says what the compiler makes of them"


def search(
    plan: Plan, memory: int | None = None, by: By = "price", top: int = 10, parts: int = 1, keep: Collection[str] = ()
) -> Search:
    """The cheapest placements of the plan's arrays: see `Plan.search`."""
    options = [_options(plan, label, layout, parts, keep) for label, layout in zip(plan.chain.labels, plan.arguments)]
    count = math.prod(map(len, options))
    if count > MOST:
        raise ShardlabError(
            "too-many-placements", f"there are {count:,} placements, and at most {MOST:,} are searched.",
            where=f"{plan.chain.said.text}   mesh {axes_text(plan.axes)}",
            mend='keep some arrays where they are, keep="A", ask for more parts=, or plan for a mesh with fewer axes.',
        )  # fmt: skip
    fitting = [pick for pick in itertools.product(*options) if memory is None or sum(n for n, _ in pick) <= memory]
    routed = [(pick, _route(_sent_chain(plan, tuple(layout for _, layout in pick)))) for pick in fitting]
    known = [(_key(route, by, sum(n for n, _ in pick)), i) for i, (pick, route) in enumerate(routed) if route is not None]
    chosen = [routed[i] for _, i in heapq.nsmallest(top, known)]
    plans = tuple(_planned(plan, tuple(layout for _, layout in pick)) for pick, _ in chosen)
    return Search(plans, len(fitting), len(fitting) - len(known), memory, by)


def _options(plan: Plan, label: str, layout: Layout, least: int, keep: Collection[str]) -> list[tuple[int, Layout]]:
    """Placements of one array with the bytes that a device holds."""
    itemsize = plan.chain.itemsize
    if label in keep:
        return [(layout.size(itemsize), layout)]
    found = []
    for owners in itertools.product((None, *layout.names), repeat=len(layout.axes)):
        cuts: dict[str, Entry] = {}
        for (axis, _), owner in zip(layout.axes, owners):
            if owner is not None:
                cuts[owner] = (*cuts.get(owner, ()), axis)
        made = layout.placed(cuts)
        pieces = [parts(entry, layout.axes) for entry in made.entries]
        if math.prod(pieces) >= least and all(n % p == 0 for n, p in zip(layout.shape, pieces)):
            found.append((made.size(itemsize), made))
    return found


@functools.lru_cache(maxsize=MOST)
def _route(chain: Chain) -> Route | None:
    return chain.compiler()


def _sent_chain(plan: Plan, arguments: tuple[Layout, ...]) -> Chain:
    chain = dataclasses.replace(plan.chain, arguments=arguments)
    return dataclasses.replace(chain, dtype="float32", itemsize=4) if plan.promoted else chain


def _planned(plan: Plan, arguments: tuple[Layout, ...]) -> Plan:
    from shardlab.planner.planning import planned

    return planned(dataclasses.replace(plan.chain, arguments=arguments), plan.mesh)


def _key(route: Route, by: By, held: int) -> Key:
    sent = route.collectives
    costs = {"price": price(sent), "payload": total_bytes(sent), "collectives": len(sent)}
    return (costs[by], costs["price"], costs["collectives"], route.flops, held)


def _cells(plan: Plan) -> tuple[str, ...]:
    sent = ", ".join(c.kind for c in plan.collectives) or "-"
    numbers = (total_bytes(plan.collectives), plan.price, plan.flops, plan.argument_bytes)
    return (*map(str, plan.arguments), sent, *(f"{n:,.0f}" for n in numbers))
