"""The cause of a program's wrong values, placement or price: the question's own first, then one that any may have."""

from __future__ import annotations

from shardlab_judge.cases import Observed
from shardlab_judge.causes import arguments, places, prices, values
from shardlab_judge.causes.misconceptions import find_misconception
from shardlab_judge.costs import Cost
from shardlab_judge.question import Item, Misconception
from shardlab_judge.rights import rights
from shardlens import place


def recognised(item: Item, observed: Observed, letter: str, cost: Cost | None = None) -> Misconception | None:
    """The wrong answer that an item knows; otherwise what is wrong with this letter shows of itself.

    Args:
        cost: of the reference in this case.
    """
    if (known := find_misconception(item, observed, letter)) is not None:
        return known
    match letter:
        case "V":
            return _of_values(item, observed)
        case "S":
            return _of_places(observed)
        case "H" if cost is not None and all(c.executions is not None for c in observed.collectives):
            beyond = item.beyond(observed) if hasattr(item, "beyond") else 0
            if observed.price <= cost.price + beyond and observed.slow <= cost.slow:
                return prices.work(observed, cost.flops)
            budgets = (cost.price, cost.price + beyond) if observed.price > cost.price + beyond else ()
            likely = next(filter(None, (prices.likely(observed, budget, cost.sent) for budget in budgets)), None)
            return likely or (prices.against(observed.collectives, cost.sent(), beyond) if cost.sent else None)
        case "M" if cost is not None:
            return prices.memory(observed, cost.memory)
        case "F" if cost is not None:
            return prices.work(observed, cost.flops)
    return None


def _of_values(item: Item, observed: Observed) -> Misconception | None:
    right = rights(item, observed)
    if not right:
        return None
    many = len(observed.shards)
    if many != len(right):
        asked = "one array is asked for: return it alone" if len(right) == 1 else f"{len(right)} are asked for"
        return Misconception("other-number-of-arrays", f"It returns {many} array{'s' * (many != 1)}, and {asked}.")
    return values.likely(observed, right) or arguments.likely(item, observed, right)


def _of_places(observed: Observed) -> Misconception | None:
    """Of the first output that lies elsewhere."""
    for got, spec, over in zip(
        observed.placements, observed.case.outputs, observed.terms or ((),) * len(observed.placements)
    ):
        if spec is None or over:
            continue
        try:
            target = place(got.shape, observed.case.axes, spec)
        except ValueError:
            return None
        if not got.same_as(target):
            return places.likely(target, got)
    return None
