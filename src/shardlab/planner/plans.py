"""What a contraction of sharded arrays will send, compute and hold, known before anything runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from jax.sharding import Mesh

from shardlab.expressions.resolution import axes_text
from shardlab.placement import Axes
from shardlab.planner.chain import Chain
from shardlab.planner.layouts import Layout
from shardlab.planner.routes import Route
from shardlab.programs.reading.collectives import Collective, price, total_bytes
from shardlab.tables import Table

if TYPE_CHECKING:
    from shardlab.planner.search import By, Search
    from shardlab.planner.verification import Verification

COLUMNS = ("who", "collective", "array", "per device", "payload bytes", "axes", "group")
SIDES = ("left", "left", "left", "left", "right", "left", "right")
OTHERWISE = "arrays are gathered in another order, or other arrays"
UNKNOWN = "no rule says what the CPU compiler makes of this; verify() compiles it"


@dataclasses.dataclass(frozen=True, repr=False)
class Plan:
    """What one device sends, computes and holds for a contraction.

    Args:
        chain: the contraction, and the placements of its arrays.
        textbook: what the four cases say.
        compiler: what XLA makes of it on CPU, by rules that are measured; `None` where no rule covers it.
        mesh: the mesh it is for, where there is one of real devices.
        promoted: whether the CPU backend sends the arrays in a wider type than they have.
    """

    chain: Chain
    textbook: Route
    compiler: Route | None
    mesh: Mesh | None = dataclasses.field(default=None, compare=False)
    promoted: bool = False

    @property
    def route(self) -> Route:
        """The compiler's way where it is known, else the textbook's."""
        return self.compiler or self.textbook

    @property
    def differs(self) -> bool:
        """Whether the compiler sends something else than the textbook says."""
        return self.compiler is None or _sent(self.compiler) != _sent(self.textbook)

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """Those of `route`."""
        return self.route.collectives

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of collectives in `route`."""
        return frozenset(c.kind for c in self.collectives)

    @property
    def payload_bytes(self) -> int:
        """Bytes of all collectives' outputs on one device."""
        return total_bytes(self.collectives)

    @property
    def price(self) -> int:
        """Bytes that one device moves: see `shardlab.programs.reading.collectives.price`."""
        return price(self.collectives)

    @property
    def flops(self) -> float:
        """Floating-point operations of one device's products."""
        return self.route.flops

    @property
    def cases(self) -> tuple[tuple[int, ...], ...]:
        """For each product which of the four cases occur, by mesh axis."""
        return self.textbook.cases

    @property
    def arguments(self) -> tuple[Layout, ...]:
        """The arrays that go in."""
        return self.chain.arguments

    @property
    def output(self) -> Layout:
        """The array that comes out."""
        return self.route.output

    @property
    def axes(self) -> Axes:
        """Names and sizes of the mesh axes."""
        return self.arguments[0].axes

    @property
    def argument_bytes(self) -> int:
        """Bytes that one device holds of the arguments."""
        return sum(layout.size(self.chain.itemsize) for layout in self.arguments)

    @property
    def output_bytes(self) -> int:
        """Bytes that one device holds of the output."""
        return self.output.size(self.chain.itemsize)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the compiler's way is not the textbook's."""
        return tuple(self._notes())

    def verify(self) -> Verification:
        """Compiles the contraction for CPU devices and compares what it sends with the plan.

        Raises:
            ShardlabError: there are fewer CPU devices than the plan is for.
        """
        from shardlab.planner.verification import verify

        return verify(self)

    def search(
        self, memory: int | None = None, by: By = "price", top: int = 10, parts: int = 1, keep: Collection[str] = ()
    ) -> Search:
        """The cheapest placements of the same arrays on the same mesh, by the rules; `verify` of the answer compiles them.

        Args:
            memory: bytes of arguments that one device may hold.
            by: what is made small first: "price" (bytes that one device moves), "payload" or the number of "collectives".
            top: how many to list.
            parts: into how many parts every array must at least be cut.
            keep: arrays that stay where they are, `"A"` or `("A", "C")`.
        Raises:
            ShardlabError: there are more placements than can be searched.
        """
        from shardlab.planner.search import search

        return search(self, memory, by, top, parts, keep)

    def __rich__(self) -> Table:
        rows = [row for who, route in self._ways() for row in _rows(who, route)]
        title = f"{self.chain.said.text}   on {axes_text(self.axes)}"
        return Table(COLUMNS, SIDES, tuple(rows), tuple(self._lines()), title)

    def __str__(self) -> str:
        return str(self.__rich__())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.__rich__().html()

    def _ways(self) -> Iterator[tuple[str, Route]]:
        if not self.differs:
            yield "both", self.textbook
            return
        yield "textbook", self.textbook
        if self.compiler is not None:
            yield "CPU compiler", self.compiler

    def _notes(self) -> Iterator[str]:
        if self.compiler is None:
            yield UNKNOWN
        elif self.differs:
            ways = ([(c.kind, c.name) for c in route.collectives] for route in (self.compiler, self.textbook))
            widened = self.promoted and next(ways) == next(ways)
            yield from self.compiler.notes or (() if widened else (OTHERWISE,))
        if self.promoted and self.collectives:
            yield f"the CPU backend sends {self.chain.dtype} as float32: twice the bytes"

    def _lines(self) -> Iterator[str]:
        if not any(route.collectives for _, route in self._ways()):
            yield "no collectives"
        for label, layout in zip(self.chain.labels, self.arguments):
            yield f"{label}: {layout}, {layout.size(self.chain.itemsize):,} bytes a device"
        terms = f", from terms {self.textbook.terms}" if self.textbook.terms else ""
        cases = ", then ".join(" and ".join(map(str, found)) for found in self.cases)
        yield f"output: {self.output}, {self.output_bytes:,} bytes a device{terms}; case {cases}"
        for who, route in self._ways():
            sent = f"payload {total_bytes(route.collectives):,} bytes, price {price(route.collectives):,} bytes"
            elsewhere = f", output {route.output}" if route.output != self.output else ""
            yield f"{who}: {sent}, {route.flops:,.0f} FLOPs a device{elsewhere}"
        yield from (f"note: {note}" for note in self.notes)


def _sent(route: Route) -> list[tuple[str, int, tuple[str, ...]]]:
    return sorted((c.kind, c.payload_bytes, c.axes) for c in route.collectives)


def _rows(who: str, route: Route) -> Iterator[tuple[str, ...]]:
    for c in route.collectives:
        held = f"{c.dtype}[{','.join(map(str, c.shape))}]"
        yield who, c.kind, c.name, held, f"{c.payload_bytes:,}", ", ".join(c.axes), str(c.group_size)
