"""Every recogniser answers for its own wrong answers: without the cause that an answer is due, no other one is told of it.

Where two causes are true of one answer, `overlaps.toml` says so: of the answer, what would be told of it next.
"""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

import asked
import variants
from corpus import answer
from shardlab_course.chapters import QUESTIONS
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import matches
from shardlab_judge.judging import judge
from shardlab_judge.question import Question
from shardlab_judge.references import build
from variants import REFERENCE, Sample

SEED = 20
OVERLAPS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (pathlib.Path(__file__).parent / "overlaps.toml").read_text(encoding="utf-8")
)
MEASURED = ("4.7", "9.7", "9.8", "10.9")
"""Exercises whose answers have been tried like this, and whose overlaps were looked at."""
ASKED = [q for q in QUESTIONS.values() if asked.question(q.id)]


def told_instead(question: Question, sample: Sample) -> list[str]:
    """The exercise's causes that are told of an answer in place of the one that it is due."""
    response = answer(sample, SEED)
    references = build([question], {question.id: answer(variants.of(question.id)[REFERENCE], SEED)}, SEED)
    due = judge(question, response, references, SEED)
    places = {(f.item, f.letter) for f in due.findings if f.misconception == sample.misconception}
    found = judge(_without(question, str(sample.misconception)), response, references, SEED)
    own = {known.id for item in question.items for known in item.misconceptions}
    return sorted({str(f.misconception) for f in found.findings if (f.item, f.letter) in places and f.misconception in own})


def _without(question: Question, id: str) -> Question:
    items = (
        dataclasses.replace(item, misconceptions=tuple(known for known in item.misconceptions if known.id != id))
        for item in question.items
    )
    return dataclasses.replace(question, items=tuple(items))


CALLS = [(q, item) for q in ASKED for item in q.items if isinstance(item, CallsItem)]
SHOWN_ONLY = {
    ("4.1", "axes-in-any-order"),
    ("5.2", "root-of-floats"),
    ("6.4", "dimensions-forgotten"),
    ("12.4", "no-device-at-all"),
    ("15.2", "tie"),
}
"""Misconceptions that drawn calls hardly ever tell from the right answer: public ones do, and a release has these too."""


@pytest.mark.parametrize(("question", "item"), [pytest.param(q, i, id=f"{q.id}-{i.name}") for q, i in CALLS])
def test_calls_tell_what_is_known(question: Question, item: CallsItem) -> None:
    """Of plain functions the public calls tell each misconception from the right answer and from the others, and so does
    what any release draws."""
    known = [one for one in item.misconceptions if one.like is not None]
    for one, other in itertools.combinations(known, 2):
        assert one.id == other.id or any(_differ(item, one.like, other.like, call) for call in item.calls), (
            one.id,
            other.id,
        )
    drawn = [item.calls_of(question.id, seed)[len(item.calls) :] for seed in range(3)] if item.draw else []
    for one in known:
        assert any(item.tells(one.like, call) for call in item.calls), one.id
        told = all(any(item.tells(one.like, call) for call in calls) for calls in drawn)
        assert told or (question.id, one.id) in SHOWN_ONLY, one.id


def _differ(item: CallsItem, one: Callable[..., Any], other: Callable[..., Any], call: tuple[Any, ...]) -> bool:
    said = [_said(function, call) for function in (one, other)]
    return type(said[0]) is not type(said[1]) or not matches(said[0], said[1], max(item.rtol, 1e-9))


def _said(function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    try:
        return function(*call)
    except Exception:  # some known wrong functions raise
        return "raised"


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("question", [q for q in ASKED if q.id in MEASURED], ids=lambda q: q.id)
def test_no_other_cause_answers_for_it(question: Question) -> None:
    """What two causes are true of is listed, and nothing is listed that is not so."""
    wrong = [s for s in variants.of(question.id).values() if s.misconception not in (None, "-") and not s.due.passes]
    found = {sample.name: instead for sample in wrong if (instead := told_instead(question, sample))}
    assert found == OVERLAPS.get(question.id, {})
