"""Every recogniser answers for its own wrong answers: without the cause that an answer is due, no other one is told of it.

Where two causes are true of one answer, `overlaps.toml` says so: of the answer, what would be told of it next.
"""

from __future__ import annotations

import base64
import dataclasses
import itertools
import math
import pathlib
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import asked
import variants
from corpus import answer
from shardlab_course.chapters import QUESTIONS
from shardlab_judge.cases import Case, Observed
from shardlab_judge.causes import prices
from shardlab_judge.causes.misconceptions import find_misconception
from shardlab_judge.inputs import hidden_inputs
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import matches
from shardlab_judge.judging import judge
from shardlab_judge.measuring import measure, run
from shardlab_judge.question import Question
from shardlab_judge.references import build
from shardlens.reading.collectives import Collective
from variants import REFERENCE, Sample

SEED = 20
OVERLAPS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (pathlib.Path(__file__).parent / "overlaps.toml").read_text(encoding="utf-8")
)
ABOUT_ANY_COLLECTIVE = {
    "communicates-for-nothing", "edges-for-everybody", "moves-by-other-collectives", "no-loop-left", "results-gathered",
    "rows-travel", "sums-in-one-go", "uses-a-finished-collective",
}  # fmt: skip
"""What these say is true wherever there is one more collective, or one more of a kind, however small."""
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


PROGRAMS = [(q, item) for q in ASKED for item in q.items if isinstance(item, ProgramItem) and "H" in item.points]


@pytest.mark.thorough
@pytest.mark.parametrize(("question", "item"), [pytest.param(q, i, id=f"{q.id}-{i.name}") for q, i in PROGRAMS])
def test_one_more_small_collective_is_no_cause_of_an_exercise(question: Question, item: ProgramItem) -> None:
    """A right program that sends a few numbers besides is told of these, and not of an array that it does not send."""
    recorded = answer(variants.of(question.id)[REFERENCE], SEED)["items"][item.name]["programs"][0]
    case = item.cases_of(question.id, SEED)[0]
    observed = run(measure(base64.b64decode(recorded["module"]), case), hidden_inputs(case, SEED), SEED)
    for one in _small(case):
        more = dataclasses.replace(observed, collectives=(*observed.collectives, one))
        found = find_misconception(item, more, "H")
        assert found is None or found.id in ABOUT_ANY_COLLECTIVE, (one.kind, found.cause)
        told = prices.against(more.collectives, observed.collectives, 0)
        assert told.id == "more-than-due" and f"{one.kind} over {one.axes[0]}" in told.cause


SPARING = [(q, item) for q, item in PROGRAMS if item.slack]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("question", "item"), [pytest.param(q, i, id=f"{q.id}-{i.name}") for q, i in SPARING])
def test_no_collective_of_an_argument_hides_in_a_slack(question: Question, item: ProgramItem) -> None:
    """What a program may move beyond the reference is no room for another argument, or for a device's part of it."""
    cases = item.cases[:2]
    rights = [sample for sample in variants.of(question.id).values() if sample.misconception is None]
    prices = [_observed(item, cases, sample) for sample in sorted(rights, key=lambda sample: sample.name != REFERENCE)]
    for n, case in enumerate(cases):
        budget = prices[0][n].price
        for observed in (each[n] for each in prices if each[n].price >= budget):
            assert observed.price <= budget + item.beyond(observed), "it is right"
            for one in itertools.chain.from_iterable(_whole_or_part(case, given) for given in range(len(case.inputs))):
                more = dataclasses.replace(observed, collectives=(*observed.collectives, one))
                assert more.price > budget + item.beyond(more), (case.title, one)


def _observed(item: ProgramItem, cases: Sequence[Case], sample: Sample) -> list[Observed]:
    recorded = answer(sample, SEED)["items"][item.name]["programs"]
    return [
        run(measure(base64.b64decode(one["module"]), case), hidden_inputs(case, SEED), SEED)
        for one, case in zip(recorded, cases)
    ]


def _whole_or_part(case: Case, number: int) -> Iterator[Collective]:
    """An argument gathered, summed or sent on along each axis."""
    given = case.inputs[number]
    over = {name for entry in given.spec for name in ((entry,) if isinstance(entry, str) else entry or ())}
    pieces = math.prod(size for name, size in case.axes if name in over)
    element = np.dtype(given.dtype)
    for axis, n in (each for each in case.axes if each[1] > 1):
        mine = math.prod(given.shape) // pieces
        for kind, numbers in (("all-gather", n * mine), ("all-reduce", mine), ("collective-permute", mine)):
            sent = numbers * element.itemsize
            array = ({"f": "f", "i": "s"}[element.kind] + str(8 * element.itemsize), (numbers,))
            yield Collective(kind, (numbers,), array[0], sent, mine * element.itemsize, (axis,), n, arrays=(array,))


def _small(case: Case) -> Iterator[Collective]:
    """One of each kind, with a number for each device."""
    axis, n = next((name, size) for name, size in case.axes if size > 1)
    ring = tuple((d, (d + 1) % n) for d in range(n))
    for kind, brought, given in (
        ("all-reduce", 4, 4), ("all-gather", 4 * n, 4), ("all-to-all", 4 * n, 4 * n), ("collective-permute", 4, 4),
        ("reduce-scatter", 4, 4 * n),
    ):  # fmt: skip
        groups = ring if kind == "collective-permute" else ()
        yield Collective(kind, (brought // 4,), "f32", brought, given, (axis,), n, groups=groups)
