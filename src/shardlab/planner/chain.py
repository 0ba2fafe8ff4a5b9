"""Chains of products: where intermediate arrays lie, and what the whole costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from shardlab.planner.compiler import compiled
from shardlab.planner.contraction import Contraction
from shardlab.planner.layouts import Layout
from shardlab.planner.routes import Cuts, Product, Route, free_prefix, joined, natural_output
from shardlab.planner.textbook import textbook
from shardlab.planner.work import Unknown

REACH_BACK = "an intermediate array is cut as the array that follows it is"


@dataclasses.dataclass(frozen=True)
class Chain:
    """Arrays multiplied from left to right.

    Args:
        said: the contraction.
        arguments: placements of the arrays.
        output: the placement asked of the product, if any is.
        dtype: of all arrays.
        itemsize: bytes per element.
    """

    said: Contraction
    arguments: tuple[Layout, ...]
    output: Layout | None
    dtype: str
    itemsize: int

    @property
    def labels(self) -> tuple[str, ...]:
        """`A`, `B`, ... for the arrays."""
        return tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(self.arguments)])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the product."""
        sizes = {n: size for layout in self.arguments for n, size in zip(layout.names, layout.shape)}
        return tuple(sizes[n] for n in self.said.output)

    def textbook(self) -> Route:
        """Product by product, each output left where it comes out."""
        return joined([textbook(product, asked) for product, asked in self._products(reach_back=False)])

    def compiler(self) -> Route | None:
        """What the CPU compiler makes of it; `None` where no rule covers a product."""
        routes = []
        try:
            products = list(self._products(reach_back=True))
        except Unknown:
            return None
        for product, asked in products:
            route = compiled(product, asked)
            if route is None:
                return None
            natural = product.output.placed(natural_output(product))
            noted = () if asked or product.output == natural else (REACH_BACK,)
            routes.append(dataclasses.replace(route, notes=(*noted, *route.notes)))
        return joined(routes)

    def _products(self, reach_back: bool) -> Iterator[tuple[Product, bool]]:
        """Each product, with the placement of its output, and whether that is the one asked for.

        Args:
            reach_back: whether intermediate arrays are cut as the next array and the output that is asked for cut the
                dimensions that they share.
        """
        left, label = self.arguments[0], self.labels[0]
        for i, (right, (_, _, names)) in enumerate(zip(self.arguments[1:], self.said.products)):
            sizes = dict(zip((*left.names, *right.names), (*left.shape, *right.shape)))
            out = Layout(names, tuple(sizes[n] for n in names), ((),) * len(names), left.axes)
            labels = (label, self.labels[i + 1], label + self.labels[i + 1])
            product = Product(left, right, out, labels, self.dtype, self.itemsize)
            cuts = dict.fromkeys(names, ()) | natural_output(product)
            if reach_back and i + 1 < len(self.said.products):
                cuts = self._reached(cuts, i)
            asked = self.output is not None and i + 1 == len(self.said.products)
            out = self.output if asked and self.output is not None else out.placed(cuts)
            yield dataclasses.replace(product, output=out), asked
            left, label = out, labels[2]

    def _reached(self, cuts: Cuts, i: int) -> Cuts:
        """The cuts of an intermediate array where an array after it cuts the same dimension more finely.

        Raises:
            Unknown: the next array and the output compete for it, or the output reaches back through several arrays.
        """
        kept, following = self.said.products[i + 1][2], self.arguments[i + 2].by_name
        summed = {name: entry for name, entry in following.items() if name not in kept}
        finer = _finer(cuts, summed)
        if self.output is None:
            return finer
        asked = {name: entry for name, entry in self.output.by_name.items() if name in cuts}
        pairs = [(cuts[name], entry) for name, entry in asked.items()]
        if any(own != entry[: len(own)] and entry != own[: len(entry)] for own, entry in pairs):
            raise Unknown
        if _finer(cuts, asked) != cuts and (finer != cuts or len(self.said.products) > 2):
            raise Unknown
        return _finer(finer, asked)


def _finer(cuts: Cuts, wanted: Cuts) -> Cuts:
    """Dimensions cut as they are wanted, by axes that no other dimension uses."""
    for name, entry in wanted.items():
        own = cuts.get(name, ())
        if entry[: len(own)] == own:
            cuts = cuts | {name: free_prefix(entry, {axis for n, e in cuts.items() if n != name for axis in e})}
    return cuts
