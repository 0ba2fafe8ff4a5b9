"""Causes of too many bytes that any program may have: which of its collectives account for all that is too much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from shardlab_judge.cases import Observed
from shardlab_judge.question import Misconception
from shardlens import price

AGAIN = 1.4
"""So many times the FLOPs that are due are work done again. Loops and masks of right programs add a quarter at most."""
HALF = ("bfloat16", "float16")


def likely(observed: Observed, budget: int) -> Misconception | None:
    """What alone brings the price down to the budget, if something does; a sentence of arithmetic, and no guess."""
    over = observed.price - budget
    if over <= 0:
        return None
    some = [*_collectives(observed, over)]
    # Where two collectives explain the same number, arithmetic does not say which of them is the one.
    return next(iter(some or _whole_program(observed, budget)), None) if len(some) < 2 else None


def _collectives(observed: Observed, over: int) -> Iterator[Misconception]:
    """Which collectives make the difference, each by itself."""
    largest = max((c.payload_bytes for c in observed.collectives), default=0)
    whole = [c for c in observed.collectives if c.kind == "all-reduce" and price([c]) == 2 * over]
    in_parts = any(p.shard_shape != p.shape for p in observed.placements)
    if len(whole) == 1 and whole[0].payload_bytes == largest and in_parts:
        yield Misconception(
            "all-reduce-for-a-part",
            f"Half of its {_named(whole[0])} is unnecessary. An all-reduce brings the whole sum to every device. If "
            "each keeps only a part, a reduce-scatter moves half as much. If only zeros are added, so does an all-gather.",
        )
    for group in _alike(observed.collectives):
        enough = next((n for n in range(1, len(group)) if price(group[n:]) == over), 0)
        if enough:
            rounds = f" in each of {n} rounds" if (n := group[0].executions or 1) > 1 else ""
            instead = f"{enough} {_named(group[0])}{rounds} instead of {len(group)}"
            what = f"With {instead}, it would cost no more than it has to."
            yield Misconception("sent-again", what)
        elif len(group) == 1 and (fewer := _rounds_too_many(group[0], over)):
            runs = group[0].executions
            ran = f"If it ran {runs - fewer} times, it would cost no more than it has to."
            what = f"Its {_named(group[0])} runs {runs} times. {ran}"
            yield Misconception("rounds-too-many", what)
        if price(group) == over:
            many, it = (f", which it has {len(group)} times", "any of them") if len(group) > 1 else ("", "it")
            what = f"It does not need its {_named(group[0])}{many}: without {it}, it would cost no more than it has to."
            yield Misconception("needless-collective", what)


def _rounds_too_many(c: Any, over: int) -> int:
    """How many of a collective's runs in a loop account for all that is too much; 0 where none do, or all."""
    each, rest = divmod(price([c]), c.executions or 1)
    fewer = over // each if each and not rest and over % each == 0 else 0
    return fewer if 0 < fewer < (c.executions or 1) else 0


def work(observed: Observed, due: float | None) -> Misconception | None:
    """What arithmetic is too much, in times of what is due."""
    if not due or observed.flops is None or observed.flops < AGAIN * due:
        return None
    return Misconception(
        "work-done-again",
        f"Each device does {observed.flops / due:.3g} times the arithmetic that it needs to. It may compute what other "
        "devices compute too, or something twice.",
    )


def _whole_program(observed: Observed, budget: int) -> Iterator[Misconception]:
    """How all that is sent relates to what has to be."""
    half = next((i.dtype.name for i in observed.inputs if i.dtype.name in HALF), "")
    if half and observed.price == 2 * budget:
        yield Misconception(
            "sent-wide", f"It sends twice as many bytes as it has to: its arguments are {half}, and it widens them first."
        )
    used = {axis for c in observed.collectives for axis in c.axes}
    times = {size: name for name, size in observed.case.axes if size > 1 and name in used}
    if budget and (name := times.get(observed.price // budget)) and observed.price % budget == 0:
        yield Misconception(
            "bytes-times-axis",
            f"It moves {observed.price // budget} times the bytes that it needs to, which is the number of devices "
            f"along {name}. Perhaps whole arrays are sent where blocks would do, or everything is sent again in each "
            f"step.",
        )


def _alike(collectives: Sequence[Any]) -> list[list[Any]]:
    """Collectives of one kind, over the same axes, with as many bytes."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for c in collectives:
        groups.setdefault((c.kind, c.axes, c.payload_bytes, c.executions), []).append(c)
    return [*groups.values()]


def _named(c: Any) -> str:
    over = f" over {' and '.join(c.axes)}" if c.axes else ""
    return f"{c.kind}{over} of {c.payload_bytes:,} B"
