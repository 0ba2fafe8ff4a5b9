"""A product while the rules for the CPU compiler are applied to it: what is still shared, and what was sent."""

from __future__ import annotations

import dataclasses

from shardlab.planner.layouts import Entry, Layout, parts
from shardlab.planner.routes import Cuts, Product, transfer
from shardlab.programs.reading.collectives import Collective


class Unknown(Exception):
    """No rule covers the product."""


@dataclasses.dataclass
class Side:
    """One array while rules are applied: its cuts within the group of devices that still shares work."""

    layout: Layout
    label: str
    cuts: Cuts

    @property
    def cut(self) -> Cuts:
        """Dimensions that are cut."""
        return {name: entry for name, entry in self.cuts.items() if entry}


class Work:
    """The arrays of a product, the mesh axes that are still idle, and what has been found.

    Attributes:
        split: how the devices have divided the dimensions among them.
        idle: mesh axes along which all devices still do the same.
        sent: collectives so far.
        rules: names of the rules that were used.
        lent: whether a cut moved to idle axes and was gathered there.
        leftover: whether an array was gathered over an axis that cuts the other's summed dimension.
        trimmed: whether an array was gathered over some of the axes that cut one of its dimensions.
        uneven: whether a dimension of all three arrays is cut in one only.
    """

    def __init__(self, product: Product) -> None:
        left, right, out = product.left, product.right, product.output
        self.product = product
        self.left = Side(left, product.labels[0], dict(left.by_name))
        self.right = Side(right, product.labels[1], dict(right.by_name))
        self.out = Side(out, product.labels[2], dict(out.by_name))
        self.idle = tuple(axis for axis, _ in product.axes)
        self.split: Cuts = {}
        self.sent: list[Collective] = []
        self.rules: list[str] = []
        self.lent = self.leftover = self.uneven = self.trimmed = False

    def take(self, name: str, entry: Entry) -> None:
        """From here on the devices along `entry` work on different parts of dimension `name`."""
        if entry:
            self.split[name] = (*self.split.get(name, ()), *entry)
            self.idle = tuple(axis for axis in self.idle if axis not in entry)
            for side in (self.left, self.right, self.out):
                if name in side.cuts:
                    side.cuts[name] = ()

    def room(self, entry: Entry) -> bool:
        """Whether the idle axes, together, can take the place of a cut."""
        idle, cut = parts(self.idle, self.product.axes), parts(entry, self.product.axes)
        return idle > 1 and idle % cut == 0

    def gather(self, side: Side, name: str, rest: Entry, over: Entry = ()) -> None:
        """A dimension keeps the cuts `rest` and is gathered over the other axes."""
        if self.uneven:
            raise Unknown
        before = dict(side.cuts)
        side.cuts[name] = rest
        self.note("all-gather", side, before, over or before[name], side.cuts)

    def permute(self, side: Side, name: str, had: Entry, to: Entry) -> None:
        """A dimension's cut changes from the axes `had` to the axes `to`, each device sending what it holds."""
        side.cuts[name] = to
        self.note("collective-permute", side, side.cuts, tuple({*had, *to}))

    def note(self, kind: str, side: Side, before: Cuts, over: Entry, after: Cuts | None = None) -> None:
        """Notes a collective on what one device holds of `side` now."""
        one, other = (self.local(side, cuts) for cuts in (before, before if after is None else after))
        self.sent.append(transfer(kind, side.label, one, other, over, self.product.dtype, self.product.itemsize))

    def local(self, side: Side, cuts: Cuts) -> Layout:
        """The array as its devices hold it, with `cuts` within their group."""
        names = side.layout.names
        return side.layout.placed({n: (*self.split.get(n, ()), *cuts.get(n, ())) for n in names})

    def size(self, side: Side, cuts: Cuts) -> int:
        """Bytes that one device holds of it."""
        return self.local(side, cuts).size(self.product.itemsize)
