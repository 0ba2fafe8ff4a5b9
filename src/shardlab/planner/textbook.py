"""The four cases: which collectives a product of two sharded arrays needs, by the rules of the textbook.

Each mesh axis is taken by itself, by what it cuts in the left and in the right array:

1. no summed dimension: nothing is sent;
2. a summed dimension of one array only: that array is gathered;
3. the same summed dimension of both: the devices hold terms of sums, `{U:axis}`, which an all-reduce adds up;
4. a dimension of each that stays: the smaller array is gathered, unless the output asks for its cut.

Source: scaling-book, Part 3 (Sharded Matrices and How to Multiply Them), 'Computation With Sharded Arrays'.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from shardlab.planner.layouts import Entry, Layout
from shardlab.planner.routes import Cuts, Product, Route, transfer
from shardlab.programs.reading.collectives import Collective


def textbook(product: Product, asked: bool) -> Route:
    """The textbook's way of a product; `asked` says whether the output's placement is required."""
    target = product.output.by_name if asked else {}
    left, right = product.left, product.right
    if asked:
        left, right = _sliced(left, right, target), _sliced(right, left, target)
    cases = sorted({_case(product, left, right, axis) for axis, _ in product.axes} - {0}) or [1]
    drop_left, drop_right = _gathered(product, left, right, target)
    sent = []
    for layout, label, drop in ((left, product.labels[0], drop_left), (right, product.labels[1], drop_right)):
        if drop:
            sent.append(_send(product, "all-gather", label, layout, without(layout, drop), tuple(drop)))
    left, right = without(left, drop_left), without(right, drop_right)
    cuts = left.by_name | {n: e for n, e in right.by_name.items() if e}
    partial = tuple(axis for name in product.summed for axis in cuts.get(name, ()))
    terms = product.output.placed(cuts, partial)
    moves, output = _finish(product, terms, target, asked)
    return Route((*sent, *moves), product.flops(cuts), output, terms if partial else None, (tuple(cases),))


def without(layout: Layout, axes: set[str]) -> Layout:
    """The array gathered over these axes."""
    return layout.placed({n: tuple(axis for axis in e if axis not in axes) for n, e in layout.by_name.items()})


def _send(product: Product, kind: str, label: str, before: Layout, after: Layout, axes: Entry) -> Collective:
    return transfer(kind, label, before, after, axes, product.dtype, product.itemsize)


def _sliced(layout: Layout, other: Layout, target: Cuts) -> Layout:
    """Copies cut as the output is asked for, which sends nothing."""
    cuts = layout.by_name
    for name, entry in target.items():
        own = cuts.get(name, ())
        if name in cuts and entry[: len(own)] == own and not set(entry[len(own) :]) & (layout.used | other.used):
            cuts[name] = entry
    return layout.placed(cuts)


def _role(layout: Layout, axis: str) -> str:
    """The dimension of `layout` that `axis` cuts, or nothing."""
    return next((name for name, entry in layout.by_name.items() if axis in entry), "")


def _case(product: Product, left: Layout, right: Layout, axis: str) -> int:
    one, other = _role(left, axis), _role(right, axis)
    summed = product.summed
    if one == other:
        return 3 if one in summed else 1 if one else 0
    if one in summed or other in summed:
        return 2
    return 4 if one and other else 1


def _gathered(product: Product, left: Layout, right: Layout, target: Cuts) -> tuple[set[str], set[str]]:
    """Mesh axes over which the left and the right array are gathered."""
    drop: tuple[set[str], set[str]] = (set(), set())
    for axis, _ in product.axes:
        one, other = _role(left, axis), _role(right, axis)
        case = _case(product, left, right, axis)
        if case == 3 and left.by_name[one] != right.by_name[other]:
            case = 4
        if case == 2:
            gather_left, gather_right = one in product.summed, other in product.summed
            if gather_left and gather_right:
                gather_left = _smaller(product, left, right, axis)
                gather_right = not gather_left
        elif case == 4:
            kept = next((name for name in (one, other) if axis in target.get(name, ())), None)
            gather_left = _smaller(product, left, right, axis) if kept is None else kept == other
            gather_right = not gather_left
        else:
            continue
        drop[0].update([axis] * gather_left)
        drop[1].update([axis] * gather_right)
    return drop


def _smaller(product: Product, left: Layout, right: Layout, axis: str) -> bool:
    """Whether the left array is cheaper to gather over `axis`; of two alike the larger array keeps its cut."""
    one, other = (without(layout, {axis}).size(product.itemsize) for layout in (left, right))
    return one < other or (one == other and math.prod(left.shape) < math.prod(right.shape))


def _finish(product: Product, terms: Layout, target: Cuts, asked: bool) -> tuple[tuple[Collective, ...], Layout]:
    """Sums made, and the output brought to where it is asked for."""
    final = product.output if asked else dataclasses.replace(terms, partial=())
    moves = tuple(_finishing(product, terms, final))
    return moves, final


def _finishing(product: Product, terms: Layout, final: Layout) -> Iterator[Collective]:
    label = product.labels[2]
    scattered = {n: final.by_name[n] for n, e in terms.by_name.items() if _extends(final.by_name[n], e, terms.partial)}
    here = dataclasses.replace(terms, partial=())
    if scattered:
        after = here.placed(here.by_name | scattered)
        over = tuple(axis for axis in terms.partial if axis in after.used)
        yield _send(product, "reduce-scatter", label, here, after, over)
        here = after
    if rest := tuple(axis for axis in terms.partial if axis not in here.used):
        yield _send(product, "all-reduce", label, here, here, rest)
    yield from _moved(product, label, here, final)


def _extends(entry: Entry, own: Entry, partial: Entry) -> bool:
    more = entry[len(own) :]
    return bool(more) and entry[: len(own)] == own and set(more) <= set(partial)


def _moved(product: Product, label: str, here: Layout, final: Layout) -> Iterator[Collective]:
    """From one placement to another: dimensions that swap an axis by all-to-all, what is left over by all-gather."""
    cuts = here.by_name
    for name, entry in final.by_name.items():
        giver = next((n for n, e in cuts.items() if n != name and e and e == entry and not final.by_name[n]), None)
        if giver is not None and not cuts[name]:
            after = here.placed(cuts | {giver: (), name: entry})
            yield _send(product, "all-to-all", label, here, after, entry)
            here, cuts = after, after.by_name
    extra = {axis for n, e in cuts.items() for axis in e if axis not in final.by_name[n]}
    if extra:
        after = without(here, extra)
        yield _send(product, "all-gather", label, here, after, tuple(extra))
        here = after
    if any(sorted(here.by_name[n]) == sorted(e) and here.by_name[n] != e for n, e in final.by_name.items()):
        yield _send(product, "collective-permute", label, here, final, tuple(final.used))
