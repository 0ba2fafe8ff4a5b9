"""Judging values and calls: plain JSON against a key or an oracle."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from shardlab_judge.findings import Entry, Judged, explained, raised, short
from shardlab_judge.question import CallsItem, Miss, ValueItem
from shardlab_judge.verdict import Finding


def judge_value(item: ValueItem, got: Any) -> Judged:
    """Full points for the key; for a dict, each right entry its share."""
    letter = next(iter(item.points))
    got = got if item.spelling is None else _spelt(got, item.spelling)
    if not isinstance(item.key, Mapping):
        if matches(item.key, got, item.rtol):
            return {letter: 1.0}, []
        return {}, [explained(_wrong_value(item, letter, got), _value_miss(item, got))]
    if not isinstance(got, Mapping):
        finding = Finding(
            item.name, letter, f"{item.name} is no dict.", f"a dict with the keys {list(item.key)}", short(repr(got))
        )
        return {}, [explained(finding, _value_miss(item, got))]
    wrong = [k for k, right in item.key.items() if not matches(right, got.get(k), item.rtol)]
    if not wrong:
        return {letter: 1.0}, []
    said = ", ".join(f"{k}: {short(repr(got.get(k)), 60)}" for k in wrong)
    what = f"{len(wrong)} of {len(item.key)} are not right."
    finding = Finding(item.name, letter, what, f"another answer to {', '.join(wrong)}", said)
    return {letter: 1 - len(wrong) / len(item.key)}, [explained(finding, _value_miss(item, got))]


def _spelt(got: Any, spelling: Callable[[str], str]) -> Any:
    match got:
        case str():
            return spelling(got)
        case list():
            return [_spelt(each, spelling) for each in got]
        case dict():
            return {name: _spelt(each, spelling) for name, each in got.items()}
    return got


def _wrong_value(item: ValueItem, letter: str, got: Any) -> Finding:
    return Finding(item.name, letter, "That is not it.", f"another {_kind(item.key)}", short(repr(got), 120))


def _kind(key: Any) -> str:
    match key:
        case bool():
            return "choice"
        case int() | float():
            return "number"
        case list() | tuple():
            return f"list of {len(key)}"
        case frozenset():
            return "list"
    return "choice"


def _value_miss(item: ValueItem, got: Any) -> Miss | None:
    for miss in item.misses:
        if miss.like is not None and (_holds(miss.like, got) if callable(miss.like) else matches(miss.like, got, item.rtol)):
            return miss
    return None


def _holds(predicate: Callable[[Any], bool], got: Any) -> bool:
    try:
        return bool(predicate(got))
    except Exception:  # a value of another type than the predicate was written for
        return False


def matches(right: Any, got: Any, rtol: float) -> bool:
    """Whether `got`, plain JSON, is the value `right`; whole numbers and texts must be equal, floats close."""
    if isinstance(right, bool) or isinstance(got, bool) or right is None or isinstance(right, str):
        return type(right) is type(got) and right == got
    if isinstance(right, int | float):
        return isinstance(got, int | float) and (right == got or math.isclose(right, got, rel_tol=rtol, abs_tol=0.0))
    if isinstance(right, frozenset | set):
        return isinstance(got, list) and len(got) == len(right) and all(any(matches(r, g, rtol) for g in got) for r in right)
    if isinstance(right, Mapping):
        return (
            isinstance(got, Mapping) and set(got) == set(right) and all(matches(v, got[k], rtol) for k, v in right.items())
        )
    return isinstance(got, list) and len(got) == len(right) and all(matches(r, g, rtol) for r, g in zip(right, got))


def judge_calls(item: CallsItem, calls: Iterable[tuple[Any, ...]], entries: list[Entry]) -> Judged:
    """Full points where every call returned what the oracle returns."""
    letter = next(iter(item.points))
    calls = list(calls)
    rights = [item.oracle(*arguments) for arguments in calls]
    wrong = [i for i, (right, e) in enumerate(zip(rights, entries, strict=True)) if not _returns(e, right, item.rtol)]
    if not wrong:
        return {letter: 1.0}, []
    entry, arguments = entries[wrong[0]], calls[wrong[0]]
    where = f"{item.name}({', '.join(short(repr(argument), 200) for argument in arguments)})"
    if "value" not in entry:
        error = entry.get("error", {"type": "", "message": "still `...`"})
        return {}, [raised(item, error, f"{item.name} raised in {len(wrong)} of {len(calls)} calls.", where)]
    what = f"{item.name} is wrong in {len(wrong)} of {len(calls)} calls."
    finding = Finding(item.name, letter, what, short(repr(rights[wrong[0]]), 120), short(repr(entry["value"]), 120), where)
    return {}, [explained(finding, _calls_miss(item, calls, entries))]


def _returns(entry: Entry, right: Any, rtol: float) -> bool:
    return "value" in entry and matches(right, entry["value"], rtol)


def _calls_miss(item: CallsItem, calls: list[tuple[Any, ...]], entries: list[Entry]) -> Miss | None:
    for miss in item.misses:
        if miss.like is not None and all(_agrees(miss.like, a, e, item.rtol) for a, e in zip(calls, entries)):
            return miss
    return None


def _agrees(function: Callable[..., Any], arguments: tuple[Any, ...], entry: Entry, rtol: float) -> bool:
    try:
        return _returns(entry, function(*arguments), max(rtol, 1e-9))
    except Exception:  # the known wrong function raises here, so the student's must have too
        return "error" in entry
