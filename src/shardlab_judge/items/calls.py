"""Calls: what a function returned for arguments that the grader chose, against an oracle."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shardlab_judge import responses
from shardlab_judge.causes.called import in_powers
from shardlab_judge.causes.called import where as where_wrong
from shardlab_judge.causes.returned import likely, one_sided
from shardlab_judge.findings import OPEN, explained, raised, shown
from shardlab_judge.items.value import matches
from shardlab_judge.question import Draw, Item, Judged, Misconception, Response, Setting
from shardlab_judge.verdict import Finding

Arguments = tuple[Any, ...]
TRIES = 200
"""How many argument lists are drawn to find one for which a known wrong function is wrong."""


@dataclasses.dataclass(frozen=True)
class CallsItem(Item):
    """A plain Python function, judged by what it returns for arguments that the grader chose.

    Args:
        oracle: slow, plain Python or NumPy; JSON-able arguments in, JSON-able value out.
        calls: the public argument lists.
        draw: one further argument list from a random generator.
        drawn: how many further argument lists the grader draws.
        rtol: relative tolerance for floats; whole numbers and texts must be equal.
        alone: whether it is to be written without the laboratory's own functions, which may have the answer; if not, the
            exercise says so.
    """

    oracle: Callable[..., Any] = dataclasses.field(kw_only=True)
    calls: tuple[Arguments, ...] = dataclasses.field(kw_only=True)
    draw: Draw[Arguments] | None = dataclasses.field(default=None, kw_only=True)
    drawn: int = dataclasses.field(default=20, kw_only=True)
    rtol: float = dataclasses.field(default=0.0, kw_only=True)
    alone: bool = dataclasses.field(default=True, kw_only=True)
    kind = "calls"
    form = "a function"
    parts = "calls"

    def calls_of(self, question: str, seed: int | None) -> tuple[Arguments, ...]:
        """The public argument lists, then those drawn from `seed`: so many, and what tells each misconception from them."""
        if (question, seed) not in self._asked:
            calls = self.with_drawn(self.calls, self.draw, self.drawn, question, seed)
            further = (
                () if seed is None else self._telling(calls[len(self.calls) :], f"{seed}/{question}/{self.name}/telling")
            )
            self._asked[question, seed] = calls + further
        return self._asked[question, seed]

    @functools.cached_property
    def _asked(self) -> dict[tuple[str, int | None], tuple[Arguments, ...]]:
        return {}

    def _telling(self, calls: tuple[Arguments, ...], seed: str) -> tuple[Arguments, ...]:
        """Further argument lists, for misconceptions that these do not tell from the oracle."""
        if self.draw is None:
            return ()
        rng, drawn = random.Random(seed), list(calls)
        for known in self.misconceptions:
            if known.like is not None and not any(self.tells(known.like, one) for one in drawn):
                further = (self.draw(rng) for _ in range(TRIES))
                drawn += itertools.islice((one for one in further if self.tells(known.like, one)), 1)
        return tuple(drawn[len(calls) :])

    def tells(self, like: Callable[..., Any], arguments: Arguments) -> bool:
        """Whether a known wrong function returns something else than the oracle for these arguments, or raises."""
        try:
            return not matches(self.oracle(*arguments), like(*arguments), self.rtol)
        except Exception:  # the known wrong function raises here, and the oracle does not
            return True

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """What the function is called with, and whether it may call the laboratory."""
        calls = [list(arguments) for arguments in self.calls_of(question, seed)]
        # What most items are is not written, so that the manifests of earlier releases are those of now.
        return {"calls": calls} if self.alone else {"calls": calls, "alone": False}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """A value for each call."""
        return admit_calls(asked, raw)

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Full points where every call returned what the oracle returns."""
        calls, returned = self.calls_of(setting.question, setting.seed), response["calls"]
        rights = [self.oracle(*arguments) for arguments in calls]
        wrong = [
            n for n, (right, one) in enumerate(zip(rights, returned, strict=True)) if not _returns(one, right, self.rtol)
        ]
        if not wrong:
            return {self.first: 1.0}, []
        first, count = wrong[0], f"{len(wrong)} of {len(calls)} calls."
        where = f"{self.name}({', '.join(shown(argument, 200) for argument in calls[first])})"
        if "value" not in returned[first]:
            kind, did = ("error", "raised") if "error" in returned[first] else ("todo", "returned `...`")
            what = f"{self.name} {did} in {sum(kind in one for one in returned)} of {len(calls)} calls."
            return {}, [raised(self, returned[first].get("error", OPEN), what, where)]
        right, got = shown(rights[first]), shown(returned[first]["value"])
        finding = Finding(self.name, self.first, f"{self.name} is wrong in {count}", right, got, where)
        known = _calls_misconception(self, calls, returned)
        if known is None:
            known = _relation(self, calls, wrong, rights, returned)
        return {}, [explained(finding, known)]


def _relation(
    item: CallsItem, calls: Sequence[Arguments], wrong: Sequence[int], rights: Sequence[Any], returned: Sequence[Response]
) -> Misconception | None:
    """How what was returned in the calls that went wrong relates to what is right, or to the arguments."""
    some, names = [n for n in wrong if "value" in returned[n]], [*inspect.signature(item.oracle).parameters]
    due = [rights[n] for n in some]
    got = [_with_right_parts(right, returned[n]["value"], item.rtol) for n, right in zip(some, due)]
    found = likely(due, got, lambda due, got: in_powers([calls[n] for n in some], due, got, names))
    found = found or one_sided(due, got)
    same = (
        len({shown(one.get("value", one), 10_000) for one in returned}) == 1
    )  # then which are wrong is the right answers' doing
    told = [one for one in (found, None if found and same else where_wrong(calls, wrong, names, related=not found)) if one]
    return dataclasses.replace(told[0], cause=" ".join(one.cause for one in told)) if told else None


def _with_right_parts(right: Any, got: Any, rtol: float) -> Any:
    """What was returned, with the right value wherever it is near enough."""
    if matches(right, got, rtol):
        return right
    if isinstance(right, dict) and isinstance(got, dict) and right.keys() == got.keys():
        return {key: _with_right_parts(value, got[key], rtol) for key, value in right.items()}
    if isinstance(right, list | tuple) and isinstance(got, list) and len(right) == len(got):
        return [_with_right_parts(r, g, rtol) for r, g in zip(right, got)]
    return got


def admit_calls(asked: Mapping[str, Any], raw: Any) -> Response:
    """A value for each of the manifest's calls.

    Raises:
        shardlab_judge.responses.Refused: it is something else.
    """
    return responses.cases(
        asked, raw, ("calls", "calls"), functools.partial(responses.single, field="value", check=responses.value)
    )


def _returns(one: Response, right: Any, rtol: float) -> bool:
    return "value" in one and matches(right, one["value"], rtol)


def _calls_misconception(item: CallsItem, calls: Sequence[Arguments], returned: Sequence[Response]) -> Misconception | None:
    def acts_alike(like: Callable[..., Any]) -> bool:
        return all(_agrees(like, arguments, one, item.rtol) for arguments, one in zip(calls, returned))

    return next((m for m in item.misconceptions if m.like is not None and acts_alike(m.like)), None)


def _agrees(function: Callable[..., Any], arguments: Arguments, one: Response, rtol: float) -> bool:
    try:
        return _returns(one, function(*arguments), max(rtol, 1e-9))
    except Exception:  # the known wrong function raises here, so the student's must have too
        return "error" in one
