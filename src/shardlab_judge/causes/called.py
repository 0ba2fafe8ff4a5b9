"""Causes that any plain function may have: how the calls that are wrong, or their answers, relate to the arguments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shardlab_judge.causes.returned import NEAR, kind_of
from shardlab_judge.question import Misconception


def where(calls: Sequence[Sequence[Any]], wrong: Sequence[int], names: Sequence[str]) -> Misconception | None:
    """What tells wrong calls from right ones: a flag or a word, one argument's size, or how two of them relate.

    Args:
        calls: the arguments of each call.
        wrong: which of the calls went wrong.
        names: the arguments' names.
    """
    missed, good = set(wrong), {*range(len(calls))} - {*wrong}
    if min(len(missed), len(good)) < 3:
        return None
    told = [*_words(calls, names), *_relations(calls, names)]
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
    """A product of arguments that every wrong answer is, or by which it is wrong.

    Args:
        calls: the arguments of the calls that went wrong.
        rights: what was to be returned there.
        returned: what was returned instead.
        names: the arguments' names.
    """
    if not all(kind_of(x) == "a number" and x > 0 for x in (*rights, *returned)):
        return None
    for times, words in ((rights, "the right one times "), ([1] * len(calls), "")):
        if product := _product(calls, [got / due for got, due in zip(returned, times)], names):
            more = "" if words else ", whatever else counts"
            return Misconception("arguments-product", f"Every wrong answer is {words}{product}{more}.")
    return None


def _product(calls: Sequence[Sequence[Any]], numbers: Sequence[float], names: Sequence[str]) -> str:
    """What these numbers are as a product of powers of the arguments; empty if they are none."""
    places = [p for p in _numbered(calls, names) if all(a[p] > 0 for a in calls) and len({a[p] for a in calls}) > 1]
    logs = np.array([[1.0, *(math.log(a[p]) for p in places)] for a in calls])
    if len(calls) < len(places) + 3 or np.linalg.matrix_rank(logs) < 1 + len(places):
        return ""
    wanted = np.log(numbers)
    by = np.linalg.lstsq(logs, wanted, rcond=None)[0]
    powers = np.round(by[1:])
    if not powers.any() or np.abs(logs @ [by[0], *powers] - wanted).max() > NEAR:
        return ""
    times = [_power(names[p], power) for p, power in zip(places, powers) if power > 0]
    over = "".join(f" / {_power(names[p], -power)}" for p, power in zip(places, powers) if power < 0)
    constant = math.exp(by[0])
    return " * ".join([f"{constant:.6g}"] * (abs(constant - 1) > NEAR or not times) + times) + over


def _power(name: str, power: float) -> str:
    return f"{name}**{power:.0f}" if power > 1 else name
