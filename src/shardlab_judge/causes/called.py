"""Causes that any plain function may have: how the calls that are wrong, or their answers, relate to the arguments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shardlab_judge.causes.returned import NEAR, kind_of
from shardlab_judge.question import Misconception


def where(
    calls: Sequence[Sequence[Any]], wrong: Sequence[int], names: Sequence[str], related: bool = True
) -> Misconception | None:
    """What tells wrong calls from right ones: a flag or a word, one argument's size, or how two of them relate.

    Args:
        calls: the arguments of each call.
        wrong: which of the calls went wrong.
        names: the arguments' names.
        related: whether two arguments may be compared; beside another cause that is more likely an accident.
    """
    missed, good = set(wrong), {*range(len(calls))} - {*wrong}
    if min(len(missed), len(good)) < 3:
        return None
    told = [*_words(calls, names), *(_relations(calls, names) if related else ())]
    for is_, these in (("wrong", missed), ("right", good)):
        if words := next((words for words, having in told if having == these), ""):
            return Misconception(f"{is_}-where", f"It is {is_} in all calls with {words}, and in no others.")
    for words, having in told:
        if missed < having and 2 * len(having) <= len(calls) and "=" in words:
            some = f"It is wrong in {len(missed)} of the {len(having)} calls with {words}, and in no others."
            return Misconception("wrong-where", some)
    return _from_a_size_on(calls, missed, names)


Told = tuple[str, set[int]]
"""Words for some of the calls, and which these are."""


def _words(calls: Sequence[Sequence[Any]], names: Sequence[str]) -> Iterator[Told]:
    for place, name in enumerate(names):
        values = [_at(arguments, place) for arguments in calls]
        for value in {repr(v): v for v in values if v is None or isinstance(v, bool | str) or v in (0, 1)}:
            yield f"{name}={value}", {n for n, v in enumerate(values) if repr(v) == value}


def _relations(calls: Sequence[Sequence[Any]], names: Sequence[str]) -> Iterator[Told]:
    for m, n in itertools.permutations(_numbered(calls, names), 2):
        yield f"{names[m]} smaller than {names[n]}", {at for at, a in enumerate(calls) if a[m] < a[n]}
        if all(isinstance(a[m], int) and isinstance(a[n], int) and a[n] > 0 for a in calls):
            yield f"{names[m]} no multiple of {names[n]}", {at for at, a in enumerate(calls) if a[m] % a[n]}


def _from_a_size_on(calls: Sequence[Sequence[Any]], missed: set[int], names: Sequence[str]) -> Misconception | None:
    for place in _numbered(calls, names):
        wrong, good = ([a[place] for n, a in enumerate(calls) if (n in missed) is those] for those in (True, False))
        for words, apart in (
            (f"at least {min(wrong)}", min(wrong) > max(good)),
            (f"at most {max(wrong)}", max(wrong) < min(good)),
        ):
            if apart:
                told = f"It is wrong in all calls where {names[place]} is {words}, and in no others."
                return Misconception("wrong-where", told)
    return None


def _numbered(calls: Sequence[Sequence[Any]], names: Sequence[str]) -> list[int]:
    """The places of the arguments that are numbers in all calls."""
    return [p for p in range(len(names)) if all(kind_of(_at(arguments, p)) == "a number" for arguments in calls)]


def _at(arguments: Sequence[Any], place: int) -> Any:
    return arguments[place] if place < len(arguments) else ...


def in_powers(
    calls: Sequence[Sequence[Any]], rights: Sequence[Any], returned: Sequence[Any], names: Sequence[str]
) -> Misconception | None:
    """A product of arguments that most wrong answers are, or by which they are wrong.

    Args:
        calls: the arguments of the calls that went wrong.
        rights: what was to be returned there.
        returned: what was returned instead.
        names: the arguments' names.
    """
    if not all(kind_of(x) == "a number" and 0 < x < 1e100 for x in (*rights, *returned)):
        return None
    due, got = np.array(rights, float), np.array(returned, float)
    found = []
    for by, words in (
        (got / due, "the right one times {}"), (got, "{}, whatever else counts"), (got - due, "the right one plus {}"),
        (due - got, "the right one minus {}"), (got * due, "{} divided by the right one"),
    ):  # fmt: skip
        count, product = _product(calls, by, names)
        found.append((count, words.format(product).replace("times 1 /", "/")))
    count, told = max(found, key=lambda one: one[0])
    each = "Every wrong number"
    if count < len(calls):
        # Perhaps nothing else counts in just these calls.
        each, told = f"In {count} of {len(calls)} wrong calls, the number", told.removesuffix(", whatever else counts")
    return Misconception("arguments-product", f"{each} is {told}.") if count else None


def _product(calls: Sequence[Sequence[Any]], numbers: np.ndarray, names: Sequence[str]) -> tuple[int, str]:
    """The product of powers of arguments that most of these numbers are, and how many are it; 0 if they are none."""
    places = [p for p in _numbered(calls, names) if all(a[p] > 0 for a in calls) and len({a[p] for a in calls}) > 1][:8]
    some = (0, 1, -1, 2) if len(places) > 6 else (0, 1, -1, 2, -2)
    powers = np.array([*itertools.product(some, repeat=len(places))]).T
    logs = np.array([[math.log(a[p]) for p in places] for a in calls]).reshape(len(calls), -1)
    if np.linalg.matrix_rank(logs - logs.mean(0)) < len(places) or not (numbers > 0).any():
        return 0, ""
    rest = np.log(np.where(numbers > 0, numbers, np.nan))[:, None] - logs @ powers
    constants = np.nanmedian(rest, 0)
    counts = (np.abs(rest - constants) < NEAR).sum(0)
    used = np.abs(powers).sum(0)
    best = int(np.lexsort((used, -counts))[0])
    alike = ((counts == counts[best]) & (used == used[best])).sum() > 1
    if alike or 2 * counts[best] <= len(calls) or counts[best] < len(places) + 3:
        return 0, ""
    each = [*zip((names[p] for p in places), powers[:, best])]
    times = [_power(name, power) for name, power in each if power > 0]
    over = "".join(f" / {_power(name, -power)}" for name, power in each if power < 0)
    constant = math.exp(constants[best])
    return int(counts[best]), " * ".join([f"{constant:.6g}"] * (abs(constant - 1) > NEAR or not times) + times) + over


def _power(name: str, power: float) -> str:
    return f"{name}**{power:.0f}" if power > 1 else name
