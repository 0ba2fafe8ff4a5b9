"""Causes that any plain function may have: how what it returned relates to what is right, in all calls that are wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from shardlab_judge.findings import shown
from shardlab_judge.question import Misconception

NEAR = 1e-6
LISTED = 4
"""How many wrong entries are named at most."""
Related = Callable[[Sequence[Any], Sequence[Any]], Misconception | None]


def likely(
    rights: Sequence[Any], returned: Sequence[Any], related: Related = lambda rights, returned: None
) -> Misconception | None:
    """What explains every wrong answer.

    Args:
        rights: what was to be returned in the calls that went wrong.
        returned: what was returned instead, with the right value wherever it is near enough.
        related: what else relates numbers; it is asked before signs are told that many mistakes leave.
    """
    try:
        return _likely(rights, returned, related)
    except (TypeError, ValueError, ArithmeticError):  # whatever a student's function may have returned
        return None


def _likely(rights: Sequence[Any], returned: Sequence[Any], related: Related) -> Misconception | None:
    pairs = list(zip(rights, returned, strict=True))
    if all(got is None for got in returned):
        return Misconception("returns-none", "It returns None. Perhaps `return` is missing, or is never reached.")
    if words := _words(pairs):
        return words
    kinds = {(kind_of(right), kind_of(got)) for right, got in pairs}
    if len(kinds) == 1 and (kind := kinds.pop()) and kind[0] != kind[1] and all(kind):
        return Misconception("other-kind", f"It returns {kind[1]} where {kind[0]} is right.")
    if all(isinstance(one, dict) for pair in pairs for one in pair) and (entries := _entries(pairs, related)):
        return entries
    if lists := _lists(pairs):
        return lists
    flat = [(_numbers(right), _numbers(got)) for right, got in pairs]
    known = [(right, got) for right, got in flat if right is not None and got is not None]
    if len(known) < len(flat):
        return _members(pairs)
    return next(_relations(known, returned), None) or related(rights, returned) or next(_signs(known), None)


def one_sided(rights: Sequence[Any], returned: Sequence[Any]) -> Misconception | None:
    """That every wrong number is too large, or too small, and by how much; what is said where nothing else is known."""
    each = [(r, g) for r, g in zip(map(_numbers, rights), map(_numbers, returned)) if r and g and len(r) == len(g)]
    wrong = [(r, g) for right, got in each for r, g in zip(right, got) if r != g]
    ratios = [g / r for r, g in wrong if r > 0]
    sided = all(g > r >= 0 for r, g in wrong) or all(r > g >= 0 for r, g in wrong)
    if len(each) < len(rights) or len(ratios) < 4 or not sided:
        return None
    zeros = ratios.count(0)
    if 2 * zeros > len(ratios):
        return Misconception("mostly-zero", f"Of {len(ratios)} wrong numbers, {zeros} are 0.")
    more, far = ("large", max(ratios)) if min(ratios) > 1 else ("small", min(ratios))
    near = " That is near. Perhaps rounding differs, or a small term is wrong." if 0.9 < far < 1.1 else ""
    told = f"Every wrong number is too {more}: it is between {min(ratios):.4g} and {max(ratios):.4g} times the right one"
    but_zero = " where that is not 0" * (len(ratios) < len(wrong))
    return Misconception(f"always-too-{more}", f"{told}{but_zero}.{near}")


def kind_of(value: Any) -> str:
    """What a value is, in words; empty of what is none of these."""
    kinds = ((bool, "True or False"), (int | float, "a number"), (str, "a string"), (list, "a list"), (dict, "a dict"))
    return next((words for kind, words in kinds if isinstance(value, kind)), "")


def _words(pairs: Sequence[tuple[Any, Any]]) -> Misconception | None:
    """What is returned in place of what, where many wrong calls have the same: words, a number, or True and False."""
    rights, returned, both = ({repr(one) for one in some} for some in (*zip(*pairs), pairs))
    right, got = pairs[0]
    if len(rights) > len(returned) == 1 and all(isinstance(one, str) for pair in pairs for one in pair):
        return Misconception("one-word-too-often", f"Every wrong answer is {shown(got, 60)}: it is given too often.")
    if len(returned) > len(rights) == 1 and (isinstance(right, str) or (type(right) is int and len(pairs) > 3)):
        return Misconception("one-word-missed", f"The only right answer that it misses is {right!r}.")
    kinds = {kind_of(one) for pair in pairs for one in pair}
    most = {"a string": 2, "a number": 1 + (len(pairs) > 9), "True or False": 1}.get("".join(kinds), 0)
    if not len(both) < len(pairs) or len(both) > most:
        return None
    told = ", or ".join(dict.fromkeys(f"{got!r} where {right!r} is right" for right, got in pairs))
    lax = f": it is too {'strict' if right else 'lax'}" * isinstance(right, bool)
    return Misconception("one-for-another", f"Every wrong answer is {told}{lax}.")


def _entries(pairs: Sequence[tuple[dict[Any, Any], dict[Any, Any]]], related: Related) -> Misconception | None:
    """Of dicts, the entries that are too many, or are missing; or the only ones that are wrong, and what is known of one."""
    for words, some in (("not asked for", [(got, right) for right, got in pairs]), ("missing", pairs)):
        if other := list(dict.fromkeys(name for one, two in some for name in one if name not in two)):
            return Misconception("other-entries", f"Some entries are {words}, such as {other[0]!r}.")
    names = list(dict.fromkeys(name for right, _ in pairs for name in right))
    wrong = [name for name in names if any(right.get(name) != got.get(name) for right, got in pairs)]
    if not 0 < len(wrong) < len(names):
        return None
    if len(wrong) == 1:
        (name,) = wrong
        found = likely([right.get(name) for right, _ in pairs], [got.get(name) for _, got in pairs], related)
        if found is not None:
            return Misconception(found.id, f"Only {name!r} is wrong. {found.cause}")
    if len(wrong) > LISTED:
        told = f"{len(wrong)} of {len(names)} keys have a wrong entry in some call, such as {wrong[0]!r}"
        return Misconception("some-entries", f"{told}; the entries of the other keys are right.")
    told = f"Only {' and '.join(map(repr, wrong))} {'are' if len(wrong) > 1 else 'is'} wrong"
    return Misconception("some-entries", f"{told}; the other entries are right.")


def _lists(pairs: Sequence[tuple[Any, Any]]) -> Misconception | None:
    """Of lists of lists, another number of these."""
    nested = (isinstance(one, list) and all(isinstance(e, list) for e in one) for pair in pairs for one in pair)
    if not all(nested) or any(len(right) == len(got) for right, got in pairs):
        return None
    due, made = map(len, pairs[0])
    return Misconception("other-count", f"It returns {made} list{'s' * (made != 1)} where {due} are right.")


def _members(pairs: Sequence[tuple[Any, Any]]) -> Misconception | None:
    """Of lists of words: that every wrong one has words too many, or lacks some."""
    lists = (isinstance(one, list) and all(isinstance(word, str) for word in one) for pair in pairs for one in pair)
    if not all(lists):
        return None
    more, fewer = ([[w for w in one if w not in two] for one, two in some] for some in ([p[::-1] for p in pairs], pairs))
    if all(more) and not any(fewer):
        return Misconception("words-too-many", f"Every wrong list has words too many, such as {more[0][0]!r} here.")
    if all(fewer) and not any(more):
        return Misconception("words-missing", f"Every wrong list lacks words, such as {fewer[0][0]!r} here.")
    return None


def _relations(pairs: Sequence[tuple[list[float], list[float]]], returned: Sequence[Any]) -> Iterator[Misconception]:
    """What all wrong numbers are of the right ones, or in place of them."""
    if any(len(right) != len(got) for right, got in pairs):
        if all(len(right) != len(got) for right, got in pairs):
            right, got = map(len, pairs[0])
            yield Misconception("other-count", f"It returns {got} number{'s' * (got != 1)} where {right} are right.")
        return
    if all(sorted(right) == sorted(got) for right, got in pairs):
        places = "other lists" if all(right == got for right, got in pairs) else "another order"
        yield Misconception("other-order", f"The numbers are the right ones, in {places}.")
        return
    each = [(r, g) for right, got in pairs for r, g in zip(right, got) if r != g]
    varied = min(len({r for r, _ in each}), len({g for _, g in each})) > 1
    yield from _by_a_constant(each) if varied else ()
    if all(g == 0 for _, g in each):
        yield Misconception("always-zero", "Every wrong number is 0.")
    if len(pairs) > 1 and all(one == returned[0] for one in returned) and len({str(right) for right, _ in pairs}) > 1:
        told = "is the same value" if isinstance(returned[0], list | dict) else f"is {returned[0]!r}"
        yield Misconception("always-the-same", f"Every wrong answer {told}.")


def _signs(pairs: Sequence[tuple[list[float], list[float]]]) -> Iterator[Misconception]:
    """What all wrong numbers, or their places, have in common."""
    if any(len(right) != len(got) for right, got in pairs):
        return
    each = [(r, g) for right, got in pairs for r, g in zip(right, got) if r != g]
    if all(r == int(r) for r, _ in each) and any(g != int(g) for _, g in each):
        near = all(abs(g - r) < 1 for r, g in each)
        rounded = ": did you mean `//`?" if near else ". Rounding does not make all of them right."
        told = f"The right answers are whole numbers, but some of these are not{rounded}"
        yield Misconception("no-whole-numbers", told)
    if all(r >= 0 for r, _ in each) and any(g < 0 for _, g in each):
        yield Misconception("below-zero", "Some of the numbers are negative, but no right one is.")
    if len(each) > 1 and all(r and not 1e-4 < abs(g / r) < 1e4 for r, g in each):
        yield Misconception(
            "orders-of-magnitude", "Every wrong number is off by a factor of ten thousand or more: look at the units."
        )
    yield from _multiples(each)
    yield from _places(pairs)
    yield from _by_amounts(pairs)
    yield from _at_ends(pairs)


def _by_a_constant(each: Sequence[tuple[float, float]]) -> Iterator[Misconception]:
    if apart := _one([g - r for r, g in each]):
        more = "large" if apart > 0 else "small"
        yield Misconception("off-by-a-constant", f"Every wrong number is {abs(apart):.6g} too {more}.")
    if all(r for r, _ in each) and (ratio := _one([g / r for r, g in each])) and abs(ratio - 1) > NEAR:
        words = "has the opposite sign" if ratio == -1 else f"is {ratio:.6g} times the right one"
        told = f"Every wrong number {words}: a factor is wrong or missing, or one too many."
        yield Misconception("constant-factor", told)
    if all(r and g for r, g in each) and (product := _one([g * r for r, g in each])):
        yield Misconception("upside-down", f"Every wrong number is {product:.6g} divided by the right one: it is inverted.")


def _multiples(wrong: Sequence[tuple[float, float]]) -> Iterator[Misconception]:
    """Each a whole number of times the right one, or the other way round."""
    for id, pairs, words in (
        ("whole-multiple", wrong, "a whole-number multiple of the right one: something counts again, or does not divide"),
        ("whole-part", [(g, r) for r, g in wrong], "the right one divided by a whole number: something does not count, or "
         "divides again"),
    ):  # fmt: skip
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
