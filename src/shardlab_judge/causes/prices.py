"""Causes of too many bytes that any program may have: which of its collectives account for all that is too much."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.question import Misconception
from shardlens import place, price

AGAIN = 1.4
"""So many times the FLOPs that are due are work done again. Loops and masks of right programs add a quarter at most."""
Key = tuple[str, tuple[str, ...], int]
"""A collective's kind, its axes, and the payload bytes of one array."""
COMBINED = ("all-gather", "all-reduce", "reduce-scatter")
"""XLA makes one of several of these; an all-to-all's arrays are its parts."""
HALF = ("bfloat16", "float16")


def likely(observed: Observed, budget: int, due: Callable[[], Sequence[Any]] | None = None) -> Misconception | None:
    """What alone brings the price down to the budget, if something does; a sentence of arithmetic, and no guess.

    Args:
        due: the collectives of a program that moves no more than it has to.
    """
    over = observed.price - budget
    if over <= 0:
        return None
    some = [*_collectives(observed, over, due or tuple)]
    # Where two collectives explain the same number, arithmetic does not say which of them is the one.
    return next(iter(some or _whole_program(observed, budget)), None) if len(some) < 2 else None


def _collectives(observed: Observed, over: int, due: Callable[[], Sequence[Any]]) -> Iterator[Misconception]:
    """Which collectives make the difference, each by itself."""
    largest = max((c.payload_bytes for c in observed.collectives), default=0)
    whole = [c for c in observed.collectives if c.kind == "all-reduce" and price([c]) == 2 * over]
    in_parts = any(p.shard_shape != p.shape for p in observed.placements)
    if len(whole) == 1 and whole[0].payload_bytes == largest and in_parts:
        yield Misconception(
            "all-reduce-for-a-part",
            f"Half of its {_named(whole[0])} is unnecessary. An all-reduce brings the whole sum to every device. If "
            "each keeps only a part, a reduce-scatter moves half as much. If only zeros are added, an all-gather also does.",
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
        if price(group) == over and not _needed(group, observed.collectives, due):
            many, it = (f", which it has {len(group)} times", "any of them") if len(group) > 1 else ("", "it")
            what = f"It does not need its {_named(group[0])}{many}: without {it}, it would cost no more than it has to."
            yield Misconception("needless-collective", what)


def _needed(group: Sequence[Any], all_of_them: Sequence[Any], due: Callable[[], Sequence[Any]]) -> bool:
    """Whether these are the only ones of their kind over their axes, and one such is due, though of another size."""
    kind = _what_for(group[0])
    others = [c for c in all_of_them if _what_for(c) == kind and not any(c is one for one in group)]
    return not others and any(_what_for(c) == kind for c in due())


def _what_for(c: Any) -> tuple[str, tuple[str, ...]]:
    """What it does over which axes: a reduce-scatter sums as an all-reduce does."""
    return "all-reduce" if c.kind == "reduce-scatter" else c.kind, c.axes


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
        f"Each device does {observed.flops / due:.3g} times the arithmetic that it needs to. Perhaps it computes what "
        "other devices compute too, computes something twice, or has larger arrays than it needs.",
    )


def memory(observed: Observed, due: int) -> Misconception | None:
    """The one argument that takes as many bytes as are too many, and that the caller could give away."""
    over, case = observed.memory - due, observed.case
    sizes = [np.dtype(i.dtype).itemsize * math.prod(place(i.shape, case.axes, i.spec).shard_shape) for i in case.inputs]
    kept = [n for n, size in enumerate(sizes) if n not in observed.donated and size == over]
    if len(kept) != 1 or not any(p.shape == case.inputs[kept[0]].shape for p in observed.placements):
        return None
    what = f"The {over:,} B that are too many are those of argument number {kept[0] + 1} after the mesh"
    return Misconception("argument-kept", f"{what}, which the program does not donate.")


def against(mine: Sequence[Any], due: Sequence[Any], beyond: int) -> Misconception | None:
    """How a program's collectives differ from those of one that moves no more than it has to; arrays sent together count
    apart.

    Args:
        beyond: bytes that the program may move besides: what costs no more is not told.
    """
    ran, enough = _runs(_as_due(mine, due)), _runs(due)
    extra, missing = ran - enough, enough - ran
    told = [key for key in sorted(extra, key=lambda key: -_cost(key, extra[key])) if _cost(key, extra[key]) > beyond]
    if not told:
        return None
    if len(extra) == len(missing) == 1 and (pair := (*extra, *missing)) and pair[0][:2] == pair[1][:2]:
        key, other = pair
        if extra[key] == missing[other]:
            what = f"Its {_words(key, ran[key])} carries more than it has to: {other[2]:,} B is enough."
            return Misconception("larger-than-due", what)
    if missing:
        words = " and ".join(_some_of(key, ran[key], extra[key]) for key in told[:2])
        what = f"A program that moves no more than it has to does without {words}. It sends less in another way."
        return Misconception("other-than-due", what)
    return Misconception("more-than-due", " ".join(_too_often(key, ran[key], enough[key]) for key in told[:2]))


def _as_due(mine: Sequence[Any], due: Sequence[Any]) -> list[Any]:
    """A program's collectives, but for a reduce-scatter and an all-gather an all-reduce that is due and costs as much."""
    left = list(mine)
    for whole in (c for c in due if c.kind == "all-reduce"):
        alike = [c for c in left if (c.axes, c.executions) == (whole.axes, whole.executions)]
        parts = [c for c in alike if c.kind == "reduce-scatter" and c.operand_bytes == whole.payload_bytes][:1]
        parts += [c for c in alike if c.kind == "all-gather" and c.payload_bytes == whole.payload_bytes][:1]
        if len({c.kind for c in parts}) == 2:
            left = [whole, *(c for c in left if not any(c is part for part in parts))]
    return left


def _some_of(key: Key, ran: int, extra: int) -> str:
    if ran == extra:
        return f"this {_words(key, 1)}" + f", {ran} times" * (ran > 1)
    return f"{extra} of {ran} runs of its {_words(key, 1)}"


def _too_often(key: Key, ran: int, enough: int) -> str:
    if not enough:
        return f"Its {_words(key, ran)} is unnecessary."
    return f"Its {_words(key, 1)} runs {ran} times, but {'once is' if enough == 1 else f'{enough} times are'} enough."


def _runs(collectives: Sequence[Any]) -> collections.Counter[Key]:
    """How often each runs, all rounds counted."""
    found = collections.Counter[Key]()
    for c in collectives:
        total = _numbers(c) if c.kind in COMBINED else 0
        parts = [math.prod(shape) * c.payload_bytes // total for _, shape in c.arrays] if total else []
        for size in parts if sum(parts) == c.payload_bytes else [c.payload_bytes]:
            found[(c.kind, c.axes, size)] += c.executions or 0
    return found


def _numbers(c: Any) -> int:
    """How many numbers its arrays have, if all are of one dtype; otherwise 0."""
    return sum(math.prod(shape) for _, shape in c.arrays) if len({dtype for dtype, _ in c.arrays}) == 1 else 0


def _cost(key: Key, runs: int) -> int:
    return runs * key[2] * (2 if key[0] == "all-reduce" else 1)


def _words(key: Key, runs: int) -> str:
    kind, over, size = key
    along = f" over {' and '.join(over)}" if over else ""
    return f"{kind}{along} of {size:,} B" + f", {runs} times," * (runs > 1)


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
            f"It moves {observed.price // budget} times the bytes that it needs to, and that factor is the number of "
            f"devices along {name}. Perhaps whole arrays are sent where blocks would do, or everything is sent again in "
            f"each step.",
        )


def _alike(collectives: Sequence[Any]) -> list[list[Any]]:
    """Collectives of one kind, over the same axes, with as many bytes."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for c in collectives:
        groups.setdefault((c.kind, c.axes, c.payload_bytes, c.executions), []).append(c)
    return [*groups.values()]


def _named(c: Any) -> str:
    return _words((c.kind, c.axes, c.payload_bytes), 1)
