"""From a product and the placement asked of its output to what the CPU compiler makes of them, where rules say."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

from shardlab.planner.layouts import Layout
from shardlab.planner.partitioner import RULES, Partitioner
from shardlab.planner.routes import Cuts, Product, Route, free_prefix, natural_output, transfer
from shardlab.planner.work import Unknown
from shardlab.programs.reading.collectives import Collective


@functools.lru_cache(maxsize=16384)
def compiled(product: Product, asked: bool) -> Route | None:
    """What the CPU compiler makes of a product; `None` where no rule covers it.

    Args:
        asked: whether the caller asks for the placement of the output; else it is the one that comes out by itself.
    """
    first, final = product.output.by_name, product.output
    gathered: tuple[str, ...] = ()
    try:
        if asked and len(product.axes) > 1:
            _need_untangled(product)
            first, gathered = _reached(product.output.by_name, natural_output(product))
        work = Partitioner(dataclasses.replace(product, output=product.output.placed(first)))
        work.run()
    except Unknown:
        return None
    sent = (*work.sent, *_gathers(product, final, first, gathered))
    return Route(sent, product.flops(work.split), final, notes=tuple(RULES[rule] for rule in dict.fromkeys(work.rules)))


def _need_untangled(product: Product) -> None:
    """Two arrays that are cut by one axis make what is asked of their product too entangled for a rule."""
    left, right, wanted = product.left, product.right, product.output.by_name
    stay = [{n: e for n, e in side.by_name.items() if n not in product.summed} for side in (left, right)]
    axes = [{axis for entry in cuts.values() for axis in entry} for cuts in stay]
    if axes[0] & axes[1] and any(e not in ((), (stay[0] | stay[1])[n]) for n, e in wanted.items()):
        raise Unknown
    for cuts, side, others in ((stay[0], right, axes[1]), (stay[1], left, axes[0])):
        taken = {axis for n in cuts for axis in wanted[n] if axis not in cuts[n]} & others
        if taken and any(side.by_name[n] for n in product.summed):
            raise Unknown


def _reached(wanted: Cuts, natural: Cuts) -> tuple[Cuts, tuple[str, ...]]:
    """The cuts that the product is made with on a mesh of several axes, and dimensions to gather at the end."""
    first = dict(wanted)
    gathered: list[str] = []
    for name, entry in wanted.items():
        own = natural.get(name, ())
        if entry[: len(own)] == own:
            continue
        if own[: len(entry)] != entry:
            raise Unknown
        first[name] = free_prefix(own, {axis for other in wanted.values() for axis in other} - set(entry))
        if first[name] != entry:
            gathered.insert(0, name)
    return first, tuple(gathered)


def _gathers(product: Product, final: Layout, first: Cuts, gathered: Sequence[str]) -> Iterator[Collective]:
    here = final.placed(first)
    for name in gathered:
        after = here.placed(here.by_name | {name: final.by_name[name]})
        over = tuple(axis for axis in here.by_name[name] if axis not in final.by_name[name])
        yield transfer("all-gather", product.labels[2], here, after, over, product.dtype, product.itemsize)
        here = after
