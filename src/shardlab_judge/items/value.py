"""Values: plain JSON against a key."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from shardlab_judge import responses
from shardlab_judge.findings import explained, short
from shardlab_judge.question import Item, Judged, Misconception, Response, Setting
from shardlab_judge.verdict import Finding


@dataclasses.dataclass(frozen=True)
class ValueItem(Item):
    """A prediction, a choice or a number. With a dict as key every entry carries its share of the points.

    Args:
        key: the right value: number, text, list, frozenset (answered as a list in any order), or a dict of these.
        predicted: whether it is given by `sl.predict` before the code runs, instead of to `sl.check`.
        rtol: relative tolerance for numbers.
        spelling: brings every text of an answer into the key's spelling, where one thing may be written in several ways.
    """

    key: Any = dataclasses.field(kw_only=True)
    predicted: bool = dataclasses.field(default=False, kw_only=True)
    rtol: float = dataclasses.field(default=0.0, kw_only=True)
    spelling: Callable[[str], str] | None = dataclasses.field(default=None, kw_only=True)
    kind = "value"
    form = "a value"

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """Whether it is predicted."""
        return {"predicted": self.predicted}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """A value of limited size."""
        return responses.single(raw, "value", responses.value)

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Full points for the key; for a dict, each right entry its share."""
        got = response["value"] if self.spelling is None else _spelt(response["value"], self.spelling)
        return _judge_entries(self, self.key, got) if isinstance(self.key, Mapping) else _judge_whole(self, got)


def _judge_whole(item: ValueItem, got: Any) -> Judged:
    if matches(item.key, got, item.rtol):
        return {item.first: 1.0}, []
    finding = Finding(item.name, item.first, "That is not it.", f"another {_kind(item.key)}", short(repr(got), 120))
    return {}, [explained(finding, _value_misconception(item, got))]


def _judge_entries(item: ValueItem, key: Mapping[str, Any], got: Any) -> Judged:
    if not isinstance(got, Mapping):
        what, wanted = f"{item.name} is no dict.", f"a dict with the keys {list(key)}"
        finding = Finding(item.name, item.first, what, wanted, short(repr(got)))
        return {}, [explained(finding, _value_misconception(item, got))]
    wrong = [k for k, right in key.items() if not matches(right, got.get(k), item.rtol)]
    if not wrong:
        return {item.first: 1.0}, []
    said = ", ".join(f"{k}: {short(repr(got.get(k)), 60)}" for k in wrong)
    what = f"{len(wrong)} of {len(key)} are not right."
    finding = Finding(item.name, item.first, what, f"another answer to {', '.join(wrong)}", said)
    return {item.first: 1 - len(wrong) / len(key)}, [explained(finding, _value_misconception(item, got))]


def _spelt(got: Any, spelling: Callable[[str], str]) -> Any:
    match got:
        case str():
            return spelling(got)
        case list():
            return [_spelt(each, spelling) for each in got]
        case dict():
            return {name: _spelt(each, spelling) for name, each in got.items()}
    return got


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


def _value_misconception(item: ValueItem, got: Any) -> Misconception | None:
    return next((m for m in item.misconceptions if m.like is not None and _is_like(m.like, got, item.rtol)), None)


def _is_like(like: Any, got: Any, rtol: float) -> bool:
    return _holds(like, got) if callable(like) else matches(like, got, rtol)


def _holds(predicate: Callable[[Any], bool], got: Any) -> bool:
    try:
        return bool(predicate(got))
    except Exception:  # a value of another type than the predicate was written for
        return False


def matches(right: Any, got: Any, rtol: float) -> bool:
    """Whether `got`, plain JSON, is the value `right`; whole numbers and texts must be equal, floats close."""
    # First of all: to Python True is the number 1.
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
