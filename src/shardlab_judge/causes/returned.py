"""Causes that any plain function may have: how what it returned relates to what is right, in all calls that are wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from shardlab_judge.question import Misconception

NEAR = 1e-6


def likely(rights: Sequence[Any], returned: Sequence[Any]) -> Misconception | None:
    """What explains every wrong answer.

    Args:
        rights: what was to be returned in the calls that went wrong.
        returned: what was returned instead.
    """
    try:
        return _likely(rights, returned)
    except (TypeError, ValueError, ArithmeticError):  # whatever a student's function may have returned
        return None


def _likely(rights: Sequence[Any], returned: Sequence[Any]) -> Misconception | None:
    pairs = list(zip(rights, returned, strict=True))
    if all(got is None for got in returned):
        return Misconception("returns-none", "It returns None: `return` is missing, or is never reached.")
    kinds = {(kind_of(right), kind_of(got)) for right, got in pairs}
    if len(kinds) == 1 and (kind := kinds.pop()) and kind[0] != kind[1] and all(kind):
        return Misconception("other-kind", f"It returns {kind[1]} where {kind[0]} is right.")
    if all(isinstance(right, bool) and isinstance(got, bool) for right, got in pairs):
        return _verdicts(rights)
    if all(isinstance(right, dict) and isinstance(got, dict) and right.keys() == got.keys() for right, got in pairs):
        if entries := _entries(pairs):
            return entries
    if len(pairs) > 1 and all(isinstance(got, str) for got in returned) and len(set(returned)) == 1:
        return Misconception("one-word-too-often", f"Every wrong answer is {returned[0]!r}: it is given too often.")
    if len(pairs) > 1 and all(isinstance(right, str) for right in rights) and len(set(rights)) == 1:
        return Misconception("one-word-missed", f"The only right answer that it misses is {rights[0]!r}.")
    flat = [(_numbers(right), _numbers(got)) for right, got in pairs]
    known = [(right, got) for right, got in flat if right is not None and got is not None]
    return next(_numeric(known, returned), None) if len(known) == len(flat) else None


def one_sided(rights: Sequence[Any], returned: Sequence[Any]) -> Misconception | None:
    """That every wrong number is too large, or too small, and by how much; what is said where nothing else is known."""
    each = [(r, g) for r, g in zip(map(_numbers, rights), map(_numbers, returned)) if r and g and len(r) == len(g)]
    ratios = [g / r for right, got in each for r, g in zip(right, got) if r > 0 and r != g]
    if len(each) < len(rights) or len(ratios) < 4 or not (min(ratios) > 1 or 0 <= max(ratios) < 1):
        return None
    zeros = ratios.count(0)
    if 2 * zeros > len(ratios):
        return Misconception("mostly-zero", f"Of {len(ratios)} wrong numbers, {zeros} are 0.")
    more, far = ("large", max(ratios)) if min(ratios) > 1 else ("small", min(ratios))
    near = " That is near: look for rounding, or for a small term." if 0.9 < far < 1.1 else ""
    told = f"Every wrong number is too {more}: it is between {min(ratios):.4g} and {max(ratios):.4g} times the right one."
    return Misconception(f"always-too-{more}", told + near)


def kind_of(value: Any) -> str:
    """What a value is, in words; empty of what is none of these."""
    kinds = ((bool, "True or False"), (int | float, "a number"), (str, "a string"), (list, "a list"), (dict, "a dict"))
    return next((words for kind, words in kinds if isinstance(value, kind)), "")


def _entries(pairs: Sequence[tuple[dict[Any, Any], dict[Any, Any]]]) -> Misconception | None:
    """Of dicts, the only entries that are wrong; of a single one, what is known of it."""
    names = list(pairs[0][0])
    wrong = [name for name in names if any(right.get(name) != got.get(name) for right, got in pairs)]
    if not 0 < len(wrong) < len(names):
        return None
    if len(wrong) == 1:
        (name,) = wrong
        found = likely([right[name] for right, _ in pairs], [got[name] for _, got in pairs])
        if found is not None:
            return Misconception(found.id, f"Only {name!r} is wrong. {found.cause}")
    return Misconception("some-entries", f"Only {', '.join(map(repr, wrong))} are wrong; the other entries are right.")


def _verdicts(rights: Sequence[bool]) -> Misconception | None:
    if len(rights) < 2 or len(set(rights)) > 1:
        return None
    no = rights[0]
    told = f"Every wrong answer is {not no} where {no} is right, and none is the other way round"
    return Misconception("too-strict" if no else "too-lax", f"{told}: it is too {'strict' if no else 'lax'}.")


def _numeric(pairs: Sequence[tuple[list[float], list[float]]], returned: Sequence[Any]) -> Iterator[Misconception]:
    if any(len(right) != len(got) for right, got in pairs):
        if all(len(right) != len(got) for right, got in pairs):
            right, got = map(len, pairs[0])
            yield Misconception("other-count", f"It returns {got} number{'s' * (got != 1)} where {right} are right.")
        return
    if all(sorted(right) == sorted(got) for right, got in pairs):
        yield Misconception("other-order", "The numbers are the right ones, in another order.")
        return
    each = [(r, g) for right, got in pairs for r, g in zip(right, got)]
    varied = min(len({r for r, _ in each}), len({g for _, g in each})) > 1
    yield from _by_a_constant(each) if varied else ()
    if all(g == 0 for _, g in each):
        yield Misconception("always-zero", "Every wrong answer is 0.")
    if len(pairs) > 1 and all(one == returned[0] for one in returned) and len({str(right) for right, _ in pairs}) > 1:
        yield Misconception("always-the-same", "It returns the same value in all these calls, whatever its arguments are.")
    if all(r == int(r) for r, _ in each) and any(g != int(g) for _, g in each):
        yield Misconception(
            "no-whole-numbers", "The right answers are whole numbers, but some of these are not: did you mean `//`?"
        )
    if all(r >= 0 for r, _ in each) and any(g < 0 for _, g in each):
        yield Misconception("below-zero", "Some of the numbers are negative, but no right one is.")
    if len(each) > 1 and all(r and not 1e-4 < abs(g / r) < 1e4 for r, g in each):
        yield Misconception(
            "orders-of-magnitude", "Every wrong number is off by a factor of ten thousand or more: look at the units."
        )
    yield from _multiples([(r, g) for r, g in each if r != g])
    yield from _places(pairs)
    yield from _by_amounts(pairs)
    yield from _at_ends(pairs)


def _by_a_constant(each: Sequence[tuple[float, float]]) -> Iterator[Misconception]:
    if apart := _one([g - r for r, g in each]):
        more = "large" if apart > 0 else "small"
        yield Misconception("off-by-a-constant", f"Every wrong answer is {abs(apart):.6g} too {more}.")
    if all(r for r, _ in each) and (ratio := _one([g / r for r, g in each])) and abs(ratio - 1) > NEAR:
        words = "has the opposite sign" if ratio == -1 else f"is {ratio:.6g} times the right one"
        yield Misconception("constant-factor", f"Every wrong answer {words}: a factor is missing, or there is one too many.")
    if all(r and g for r, g in each) and (product := _one([g * r for r, g in each])):
        yield Misconception("upside-down", f"Every wrong answer is {product:.6g} divided by the right one: it is inverted.")


def _multiples(wrong: Sequence[tuple[float, float]]) -> Iterator[Misconception]:
    """Each a whole number of times the right one, or the other way round."""
    for id, pairs, words in (
        ("whole-multiple", wrong, "a whole-number multiple of the right one: something is counted again, or not divided"),
        ("whole-part", [(g, r) for r, g in wrong], "the right one divided by a whole number: something is left out"),
    ):
        if len(pairs) > 1 and all(r > 0 and g > r and abs(g / r - round(g / r)) < NEAR for r, g in pairs):
            yield Misconception(id, f"Every wrong number is {words}.")


def _places(pairs: Sequence[tuple[list[float], list[float]]]) -> Iterator[Misconception]:
    """Of lists, the one parity of place at which numbers are wrong: of pairs, the first or the second."""
    wrong = {n % 2 for right, got in pairs for n, (r, g) in enumerate(zip(right, got)) if r != g}
    if len(wrong) == 1 and all(len(right) % 2 == 0 for right, _ in pairs):
        (place,) = wrong
        told = "first" if place == 0 else "second"
        yield Misconception(f"{told}-of-pairs", f"Only the {told} number of each pair is wrong, in every wrong answer.")


def _by_amounts(pairs: Sequence[tuple[list[float], list[float]]]) -> Iterator[Misconception]:
    """Of lists, numbers that are wrong by one amount in each list, which may be another one in the next."""
    apart = [[g - r for r, g in zip(right, got) if r != g] for right, got in pairs]
    amounts = [_one(each) for each in apart]
    if all(len(each) > 1 for each in apart) and (all(a > 0 for a in amounts) or all(a < 0 for a in amounts)):
        more = "large" if amounts[0] > 0 else "small"
        told = f"In each answer all wrong numbers are too {more} by the same amount, such as {abs(amounts[0]):.6g}"
        yield Misconception("off-by-one-amount", f"{told} in the first.")


def _at_ends(pairs: Sequence[tuple[list[float], list[float]]]) -> Iterator[Misconception]:
    """Of lists, the only place at which numbers are right, or are wrong, where it is the first or the last."""
    for right_is, words in ((True, "right"), (False, "wrong")):
        places = [[n for n, (r, g) in enumerate(zip(right, got)) if (r == g) is right_is] for right, got in pairs]
        for end, last in (("first", False), ("last", True)):
            if all(len(r) > 2 and each == [(len(r) - 1) * last] for each, (r, _) in zip(places, pairs)):
                yield Misconception(f"only-the-{end}-{words}", f"Only the {end} number of each list is {words}.")


def _one(numbers: Sequence[float]) -> float:
    """The number that all of these are; 0 if they differ."""
    first = numbers[0] if numbers else 0.0
    return first if first and all(math.isclose(first, n, rel_tol=NEAR) for n in numbers) else 0.0


def _numbers(value: Any) -> list[float] | None:
    """The finite numbers of a number, or of nested lists of them; those of a dict by its keys."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [float(value)] if abs(value) < 1e300 and math.isfinite(value) else None
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if not isinstance(value, (list, tuple)):
        return None
    parts = [_numbers(part) for part in value]
    return None if any(part is None for part in parts) else [n for part in parts if part is not None for n in part]
