"""What a program costs on one device, and which of several costs no other beats."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from shardlab_judge.verdict import Finding

STEPS = ((1.1, 1.0), (1.35, 0.75), (2.0, 0.5), (3.5, 0.25))
"""Up to this distance from the front, this share of the points."""


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a program costs on one device.

    Args:
        price: payload bytes that it moves.
        memory: bytes of arguments and outputs.
        flops: floating point operations; `None` when data decides how often a loop runs.
        slow: the part of the price that crosses the case's slow axis.
        sent: the collectives that make up the price; asked for only where another program's price is higher.
    """

    price: int
    memory: int
    flops: float | None = 0.0
    slow: int = 0
    sent: Callable[[], Sequence[Any]] | None = dataclasses.field(default=None, compare=False, repr=False)


def front(costs: Mapping[str, Cost]) -> dict[str, Cost]:
    """Those that no other beats, by falling memory: each costs less than every other in bytes or in memory.

    Example:
        >>> list(front({"a": Cost(4, 1), "b": Cost(2, 2), "c": Cost(4, 2)}))
        ['b', 'a']
    """
    kept = {name: cost for name, cost in costs.items() if not any(_beats(other, cost) for other in costs.values())}
    unique = {_point(cost): name for name, cost in reversed(kept.items())}
    return {name: kept[name] for _, name in sorted(unique.items())}


def distance(cost: Cost, reached: Iterable[Cost]) -> float:
    """How many times worse than the nearest design that is `reached`, in the worse of bytes and memory; 1 if none beats it.

    Example:
        >>> distance(Cost(6, 2), [Cost(4, 1), Cost(2, 3)])
        2.0
        >>> distance(Cost(3, 2), [Cost(4, 1), Cost(2, 3)])
        1.0
    """
    others = list(reached)
    if not any(_beats(other, cost) for other in others):
        return 1.0
    return max(1.0, min(max(_ratio(cost.price, o.price), _ratio(cost.memory, o.memory)) for o in others))


HUNDREDTH = 0.01


def more(flops: float | None, most: float | None, spare: float = HUNDREDTH) -> bool:
    """Whether these are more FLOPs than allowed, by over this share; what data decides may be any number.

    Example:
        >>> more(100, 100), more(102, 100), more(None, 100), more(None, None)
        (False, True, True, False)
    """
    return most is not None and (flops is None or flops > (1 + spare) * most)


def flops_text(flops: float | None) -> str:
    """FLOPs of one device, in words."""
    if flops is None:
        return "FLOPs that nobody can count: values decide how often a loop runs"
    return f"{flops:,.0f} FLOPs a device"


def excess(item: str, memory: int, flops: float | None, due: Cost, spare: float = HUNDREDTH) -> Iterator[Finding]:
    """What a program holds (M) and computes (F) beyond what is due, with this share of the FLOPs to spare."""
    if memory > due.memory:
        what = "Arguments and outputs take more memory than they need to."
        yield Finding(item, "M", what, f"at most {due.memory:,} B a device", f"{memory:,} B a device")
    if more(flops, due.flops, spare):
        what = "Each device does more arithmetic than it needs to."
        yield Finding(item, "F", what, f"at most {flops_text(due.flops)}", flops_text(flops))


def share(found: float, steps: Sequence[tuple[float, float]] = STEPS) -> float:
    """The share of the points at this distance."""
    return next((part for most, part in steps if found <= most + 1e-9), 0.0)


def _point(cost: Cost) -> tuple[int, int]:
    return cost.price, cost.memory


def _ratio(mine: float, other: float) -> float:
    return mine / other if other else 1.0 if not mine else math.inf


def _beats(other: Cost, cost: Cost) -> bool:
    return _point(other) != _point(cost) and other.price <= cost.price and other.memory <= cost.memory
