"""Values: plain JSON against a key."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from shardlab_judge import responses
from shardlab_judge.domain import Domain, Reading, domain_of
from shardlab_judge.findings import explained, short, shown
from shardlab_judge.question import Item, Judged, Misconception, Response, Setting, WrongValues, holds
from shardlab_judge.verdict import Finding

DIFFERENT = "was different from what you predicted."
"""How a finding about a prediction ends that costs no points."""


@dataclasses.dataclass(frozen=True)
class ValueItem(Item):
    """A prediction, a choice or a number. With a dict as key every entry carries its share of the points.

    A prediction earns its points by being made, in its domain; where it was wrong a finding says so, and costs nothing.

    Args:
        key: the right value: number, text, list, frozenset (answered as a list in any order), or a dict of these.
        predicted: whether it is given by `sl.predict` before the code runs, instead of to `sl.check`.
        rtol: relative tolerance for numbers.
        words: what a text may be, however it is spelt; anything unless given.
        members: what a text in a list may be.
        pattern: what else a text may be, a regular expression and an example.
        also: values of other kinds than the key's that may be answered too.
        length: of a list, where it is no part of what is asked.
        spelling: brings every text of an answer into the key's spelling, where capitals, blanks and hyphens are not all.
    """

    key: Any = dataclasses.field(kw_only=True)
    predicted: bool = dataclasses.field(default=False, kw_only=True)
    rtol: float = dataclasses.field(default=0.0, kw_only=True)
    words: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)
    members: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)
    pattern: tuple[str, str] = dataclasses.field(default=("", ""), kw_only=True)
    also: tuple[Any, ...] = dataclasses.field(default=(), kw_only=True)
    length: int | None = dataclasses.field(default=None, kw_only=True)
    spelling: Callable[[str], str] | None = dataclasses.field(default=None, kw_only=True)
    kind = "value"
    form = "a value"

    @property
    def right(self) -> str:
        """The key as feedback and pages tell it."""
        return _shown(self.key)

    @functools.cached_property
    def domain(self) -> Domain:
        """What may be answered at all."""
        return domain_of((self.key, *self.also), self.words, self.members, self.pattern, self.length)

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """Whether it is predicted."""
        return {"predicted": self.predicted}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """A value of limited size."""
        return responses.single(raw, "value", responses.value)

    def read(self, value: Any) -> Reading:
        """An answer, as plain JSON, in the key's spelling; and what in it cannot be one."""
        return self.domain.reading(value if self.spelling is None else _spelt(value, self.spelling))

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Full points for the key, for a dict each right entry its share; of a prediction for what was predicted."""
        reading = self.read(response["value"])
        outside = [self._finding("That cannot be the answer.", self.domain.form, "; ".join(reading.faults))]
        findings = outside if reading.faults else []
        if reading.value is None and not reading.faults:
            findings = [self._finding(f"{self.name}: no answer yet.", self.domain.form, "nothing")]
        if isinstance(self.key, Mapping) and isinstance(reading.value, Mapping):
            share, found = _judge_entries(self, self.key, reading)
        else:
            share, found = _judge_whole(self, reading.value)
        return {self.first: share} if share else {}, [*findings, *found]

    def _finding(self, what: str, expected: str, got: str) -> Finding:
        return Finding(self.name, self.first, what, expected, short(got, 200))


@dataclasses.dataclass(frozen=True)
class Believed:
    """A mechanism that people believe in, the misconception that it is, and what on the page speaks against it."""

    said: str
    id: str
    cause: str


@dataclasses.dataclass(frozen=True)
class Why(ValueItem):
    """Which of three mechanisms makes a prediction come true, answered by its letter; `why` makes one.

    Args:
        asked: what they are mechanisms of, a question.
        mechanisms: sentences by their letters; notebooks and forms list them.
    """

    asked: str = dataclasses.field(kw_only=True)
    mechanisms: Mapping[str, str] = dataclasses.field(kw_only=True)

    @property
    def right(self) -> str:
        """The letter, and what it stands for."""
        return f"{self.key}: {self.mechanisms[self.key]}"


def why(asked: str, points: float = 0.5, **mechanisms: str | Believed) -> Why:
    """The item `why` of a prediction: it earns its points by being given.

    Args:
        asked: a question.
        points: a part of those that the prediction has.
        mechanisms: by their letters in the order in which they are listed; the true one is a text alone.
    """
    (truth,) = (letter for letter, each in mechanisms.items() if isinstance(each, str))
    wrong = {letter: each for letter, each in mechanisms.items() if isinstance(each, Believed)}
    return Why(
        "why", {"P": points}, key=truth, predicted=True, words=tuple(mechanisms), asked=asked,
        mechanisms={letter: each if isinstance(each, str) else each.said for letter, each in mechanisms.items()},
        misconceptions=tuple(WrongValues(each.id, each.cause, like=letter) for letter, each in wrong.items()),
    )  # fmt: skip


def _judge_whole(item: ValueItem, got: Any) -> tuple[float, list[Finding]]:
    if got is None:
        return 0.0, []
    if matches(item.key, got, item.rtol):
        return 1.0, []
    what, expected = (f"The outcome {DIFFERENT}", item.right) if item.predicted else ("That is not it.", _kind(item.key))
    return float(item.predicted), [
        explained(item._finding(what, expected, shown(got, 200)), _value_misconception(item, got))
    ]


def _judge_entries(item: ValueItem, key: Mapping[str, Any], reading: Reading) -> tuple[float, list[Finding]]:
    got = reading.value
    right = [name for name in key if name in got and matches(key[name], got[name], item.rtol)]
    wrong = [name for name in got if name not in right]
    findings = []
    if wrong:
        what, expected = f"{len(wrong)} of {len(key)} are not right.", f"a different answer to {', '.join(wrong)}"
        if item.predicted:
            what = f"Of {len(key)} outcomes, {len(wrong)} {DIFFERENT}"
            expected = _entries((name, _shown(key[name])) for name in wrong)
        said = _entries((name, shown(got[name], 60)) for name in wrong)
        findings.append(explained(item._finding(what, expected, said), _value_misconception(item, got)))
    if reading.open:
        findings.append(item._finding(f"{', '.join(reading.open)}: no answer yet.", item.domain.form, "nothing"))
    return len(got if item.predicted else right) / len(key), findings


def _entries(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name}: {text}" for name, text in pairs)


def _shown(right: Any) -> str:
    return repr(sorted(right) if isinstance(right, frozenset) else right)


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
        case int() | float() if not isinstance(key, bool):
            return "a different number"
        case list() | tuple():
            return f"a different list of {len(key)}"
        case frozenset():
            return "a different list"
    return "a different choice"


def _value_misconception(item: ValueItem, got: Any) -> Misconception | None:
    return next((m for m in item.misconceptions if m.like is not None and is_like(m.like, got, item.rtol)), None)


def is_like(like: Any, got: Any, rtol: float) -> bool:
    """Whether an answer is a known wrong one: a value, or what a predicate holds of."""
    return holds(like, got) if callable(like) else matches(like, got, rtol)


def matches(right: Any, got: Any, rtol: float) -> bool:
    """Whether `got`, plain JSON, is the value `right`; whole numbers and texts must be equal, floats close."""
    # First of all: to Python True is the number 1.
    if isinstance(right, bool) or isinstance(got, bool) or right is None or isinstance(right, str):
        return type(right) is type(got) and bool(right == got)
    if isinstance(right, int | float):
        return isinstance(got, int | float) and _close(right, got, rtol)
    if isinstance(right, frozenset | set):
        return isinstance(got, list) and _covers(right, got, rtol)
    if isinstance(right, Mapping):
        return (
            isinstance(got, Mapping) and set(got) == set(right) and all(matches(v, got[k], rtol) for k, v in right.items())
        )
    return isinstance(got, list) and len(got) == len(right) and all(matches(r, g, rtol) for r, g in zip(right, got))


def _covers(right: Iterable[Any], got: list[Any], rtol: float) -> bool:
    """Whether each of both has its like among the others; what is named twice is one."""
    pairs = [[matches(r, g, rtol) for g in got] for r in right]
    return all(map(any, pairs)) and all(any(row[i] for row in pairs) for i in range(len(got)))


def _close(right: float, got: float, rtol: float) -> bool:
    try:
        return right == got or math.isclose(right, got, rel_tol=rtol, abs_tol=0.0)
    except OverflowError:  # a whole number beyond all floats is near to none
        return False
