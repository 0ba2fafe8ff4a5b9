"""Products of sharded arrays, and routes: what is sent and computed to make them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from shardlab.placement import Axes
from shardlab.planner.layouts import Entry, Layout, parts
from shardlab.programs.reading.collectives import Collective

Cuts = dict[str, Entry]
HLO_TYPES = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "float64": "f64", "int32": "s32", "int8": "s8"}


@dataclasses.dataclass(frozen=True)
class Product:
    """Two arrays and what their product should be.

    Args:
        left, right, output: with their placements.
        labels: what the three are called.
        dtype: of all three.
        itemsize: bytes per element.
    """

    left: Layout
    right: Layout
    output: Layout
    labels: tuple[str, str, str]
    dtype: str
    itemsize: int

    @property
    def axes(self) -> Axes:
        """Names and sizes of the mesh axes."""
        return self.left.axes

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each dimension."""
        return dict(zip((*self.left.names, *self.right.names), (*self.left.shape, *self.right.shape)))

    @property
    def summed(self) -> tuple[str, ...]:
        """Dimensions over which the product sums."""
        return tuple(n for n in self.left.names if n in self.right.names and n not in self.output.names)

    def flops(self, cuts: Mapping[str, Entry]) -> float:
        """Multiplications and additions on one device when the dimensions are cut so."""
        return 2.0 * math.prod(n // parts(cuts.get(name, ()), self.axes) for name, n in self.sizes.items())


@dataclasses.dataclass(frozen=True)
class Route:
    """How products are computed: what is sent, and what one device computes.

    Args:
        collectives: in order.
        flops: floating-point operations on one device.
        output: the placement of what comes out.
        terms: the same before sums were made, `{U:axis}`.
        cases: for each product which of the four cases occur.
        notes: why, where it is not what one would expect.
    """

    collectives: tuple[Collective, ...]
    flops: float
    output: Layout
    terms: Layout | None = None
    cases: tuple[tuple[int, ...], ...] = ()
    notes: tuple[str, ...] = ()


def transfer(kind: str, array: str, before: Layout, after: Layout, axes: Entry, dtype: str, itemsize: int) -> Collective:
    """The collective over `axes` that turns one placement of an array into another."""
    order = tuple(axis for axis, _ in before.axes if axis in axes)
    return Collective(
        kind, after.shard_shape, HLO_TYPES.get(dtype, dtype), after.size(itemsize), before.size(itemsize), order,
        parts(order, before.axes), name=array,
    )  # fmt: skip


def natural_output(product: Product) -> Cuts:
    """How the output comes out without being asked: as its dimensions are cut.

    Where both arrays use an axis, the larger array keeps it, or the left of two alike; the other keeps the axes before it.
    """
    claims = sorted((product.left, product.right), key=lambda layout: -math.prod(layout.shape))
    cuts: Cuts = {}
    for name, entry in ((n, e) for layout in claims for n, e in layout.by_name.items()):
        if entry and name in product.output.names and name not in cuts:
            cuts[name] = free_prefix(entry, {axis for other in cuts.values() for axis in other})
    return cuts


def free_prefix(entry: Entry, taken: set[str]) -> Entry:
    """The axes of `entry` up to the first that is taken."""
    return next((entry[:i] for i, axis in enumerate(entry) if axis in taken), entry)


def joined(routes: Sequence[Route]) -> Route:
    """One route after the other."""
    if len(routes) == 1:
        return routes[0]
    return Route(
        tuple(c for route in routes for c in route.collectives),
        sum(route.flops for route in routes),
        routes[-1].output,
        terms=routes[-1].terms,
        cases=tuple(case for route in routes for case in route.cases),
        notes=tuple(dict.fromkeys(note for route in routes for note in route.notes)),
    )
