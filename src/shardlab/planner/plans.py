"""`Plan`: the textbook's ways of the products of a contraction, and the cheapest of them together."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from jax.sharding import Mesh

from shardlab.expressions.resolution import axes_text
from shardlab.placement import Axes
from shardlab.planner.contraction import Contraction
from shardlab.planner.layouts import Layout
from shardlab.planner.textbook import Product, Way, ways
from shardlab.programs.reading.collectives import Collective, price, total_bytes
from shardlab.tables import Table

if TYPE_CHECKING:
    from shardlab.planner.search import By, Search
    from shardlab.planner.verification import Verification

COLUMNS = ("product", "case", "way", "payload bytes", "price", "FLOPs", "")
SIDES = ("left", "left", "left", "right", "right", "right", "left")
Path = tuple[Way, ...]


class Printed:
    """What prints as a table, in terminals and in notebooks."""

    def __rich__(self) -> Table:
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.__rich__())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.__rich__().html()


@dataclasses.dataclass(frozen=True, repr=False)
class Plan(Printed):
    """What one device sends, computes and holds for arrays multiplied from left to right; prints as a table.

    Args:
        said: the contraction.
        arguments: the arrays that go in, with their placements.
        asked: the placement asked of the output; `None` to leave it where it comes out.
        mesh: the mesh it is for, where there is one of real devices.
    """

    said: Contraction
    arguments: tuple[Layout, ...]
    asked: Layout | None
    mesh: Mesh | None = dataclasses.field(default=None, compare=False)

    @functools.cached_property
    def ways(self) -> Path:
        """The textbook's way of each product, such that all together are the cheapest.

        The price decides, then the number of collectives, then FLOPs; of equal ways the left array stays.
        """
        reached: dict[Layout, Path] = {self.arguments[0]: ()}
        for i in range(len(self.said.products)):
            longer = [(*path, way) for left, path in reached.items() for way in ways(self._product(i, left))]
            reached = {}
            for path in sorted(longer, key=_cost):
                reached.setdefault(path[-1].output, path)
        return next(iter(reached.values()))

    def paths(self, first: Path = ()) -> Iterator[Path]:
        """All sequences of ways that begin with these."""
        if len(first) == len(self.said.products):
            yield first
            return
        left = first[-1].output if first else self.arguments[0]
        for way in ways(self._product(len(first), left)):
            yield from self.paths((*first, way))

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """Those of `ways`, in order."""
        return tuple(c for way in self.ways for c in way.collectives)

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
        return sum(way.flops for way in self.ways)

    @property
    def cases(self) -> tuple[tuple[int, ...], ...]:
        """For each product which of the four cases occur, by mesh axis."""
        return tuple(way.product.cases for way in self.ways)

    @property
    def output(self) -> Layout:
        """The array that comes out."""
        return self.ways[-1].output

    @property
    def axes(self) -> Axes:
        """Names and sizes of the mesh axes."""
        return self.arguments[0].axes

    @property
    def labels(self) -> tuple[str, ...]:
        """`A`, `B`, ... for the arrays."""
        return tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(self.arguments)])

    @property
    def argument_bytes(self) -> int:
        """Bytes that one device holds of the arguments."""
        return sum(layout.nbytes for layout in self.arguments)

    @property
    def output_bytes(self) -> int:
        """Bytes that one device holds of the output."""
        return self.output.nbytes

    def verify(self) -> Verification:
        """Compiles the contraction for the devices in use and compares what the compiler sends with the textbook.

        Raises:
            ShardlabError: there are fewer devices than the plan is for.
        """
        from shardlab.planner.verification import verify

        return verify(self)

    def search(
        self,
        memory: int | None = None,
        by: By = "price",
        top: int = 10,
        parts: int = 1,
        keep: Collection[str] = (),
        measure: int | None = None,
    ) -> Search:
        """Placements of the same arrays on the same mesh: the cheapest by the textbook, compiled.

        Args:
            memory: bytes of arguments that one device may hold.
            by: what is made small first: "price" (bytes that one device moves), "payload" or the number of "collectives".
            top: how many to list.
            parts: into how many parts every array must at least be cut.
            keep: arrays that stay where they are, `"A"` or `("A", "C")`.
            measure: how many of those listed to compile, the textbook's cheapest first; all of them unless given.
        Raises:
            ShardlabError: there are more placements than can be searched, or fewer devices than the plan is for.
        """
        from shardlab.planner.search import search

        return search(self, memory, by, top, parts, keep, top if measure is None else measure)

    def __rich__(self) -> Table:
        rows = itertools.chain.from_iterable(map(_rows, self.ways))
        return Table(COLUMNS, SIDES, tuple(rows), tuple(self._lines()), f"{self.said.text}   on {axes_text(self.axes)}")

    def _product(self, i: int, left: Layout) -> Product:
        last = i + 1 == len(self.said.products)
        labels = "".join(self.labels[: i + 1]), self.labels[i + 1], "".join(self.labels[: i + 2])
        return Product(left, self.arguments[i + 1], self.said.products[i][2], self.asked if last else None, labels)

    def _lines(self) -> Iterator[str]:
        for label, layout in zip(self.labels, self.arguments):
            yield f"{label}: {layout}, {layout.nbytes:,} bytes a device"
        terms = f", from terms {self.ways[-1].terms}" if self.ways[-1].terms else ""
        cases = ", then ".join(" and ".join(map(str, found)) for found in self.cases)
        yield f"output: {self.output}, {self.output_bytes:,} bytes a device{terms}; case {cases}"
        sent = f"payload {self.payload_bytes:,} bytes, price {self.price:,} bytes"
        yield f"cheapest by the textbook: {sent}, {self.flops:,.0f} FLOPs a device"


def _cost(path: Path) -> tuple[float, ...]:
    return tuple(map(sum, zip(*(way.cost for way in path))))


def _rows(taken: Way) -> Iterator[tuple[str, ...]]:
    """All ways of a product, with a mark at the one that is taken."""
    label, case = taken.product.labels[2], " and ".join(map(str, taken.product.cases))
    for way in ways(taken.product):
        yield (
            label,
            case,
            str(way),
            f"{way.payload_bytes:,}",
            f"{way.cost[0]:,}",
            f"{way.flops:,.0f}",
            "taken" * (way == taken),
        )
        label = case = ""
