"""Every answer of the corpus goes through record and judge, as a submission's does, and gets the verdict that it is due."""

from __future__ import annotations

import ast
import inspect

import pytest

import asked
from corpus import SEED, first_verdict, notebook_verdict, verdict
from drawn import disagreements
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking.feedback import html, text
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.verdict import Verdict
from variants import REFERENCE, Sample, first_of_each_cause, samples

SAMPLES = samples()
ASKED = [question for question in QUESTIONS.values() if asked.question(question.id)]


GUARDED = {question.id for question in QUESTIONS.values() if any(isinstance(item, GuardItem) for item in question.items)}
"""A guard is asked about programs that it never saw, and an exercise says that there are more of them."""


def named(sample: Sample) -> str:
    """How a test is called that judges it."""
    return f"{sample.question}-{sample.name}"


FIRST = [sample for question in ASKED for sample in first_of_each_cause(question.id)]
TOLD = {named(sample) for sample in FIRST if sample.question not in GUARDED}
"""Those that `test_cause_is_told` judges as a notebook does."""


@pytest.mark.parametrize(
    "sample", [pytest.param(s, id=named(s), marks=() if s.name == REFERENCE else pytest.mark.thorough) for s in SAMPLES]
)
def test_answer_gets_its_verdict(sample: Sample) -> None:
    """A right answer passes with full points; a wrong one fails with its own diagnosis, or none, and its exact points.

    So does what was predicted wrong, with all points. A notebook, which knows the public cases alone, says the same.
    """
    question = QUESTIONS[sample.question]
    got = verdict(sample, SEED)
    _is_due(sample, got)
    assert not disagreements(question, got, SEED)
    passes = sample.misconception is None or sample.due.passes
    expected = question.points if passes else sample.due.points
    assert expected is None or got.points == expected, text(got, question)
    assert passes or got.points < question.points
    assert html(got, question).startswith("<div")
    if (passes or sample.question not in GUARDED) and named(sample) not in TOLD:
        _is_due(sample, notebook_verdict(sample, SEED))


def test_causes_name_arguments_as_the_exercise_does() -> None:
    """A cause names arguments as the oracle does, and students know the solution's names."""
    other = []
    for sample in (sample for sample in SAMPLES if sample.name == REFERENCE):
        given = {s.name: [a.arg for a in s.args.args] for s in sample.reference if isinstance(s, ast.FunctionDef)}
        for item in (item for item in QUESTIONS[sample.question].items if isinstance(item, CallsItem)):
            names = [*inspect.signature(item.oracle).parameters][: len(given[item.name])]
            other += [(sample.question, item.name, names)] * (names != given[item.name])
    assert not other


@pytest.mark.parametrize("sample", FIRST, ids=named)
def test_cause_is_told(sample: Sample) -> None:
    """Each cause is told of the first answer that is due it, in a notebook, or in a release where only that knows enough.

    Most are told in the first case already, and the others are not tried then.
    """
    seed = SEED if sample.question in GUARDED else None
    got = verdict(sample, seed) if seed else first_verdict(sample)
    if got.status == "passed" or sample.misconception not in {finding.misconception for finding in got.findings}:
        got = verdict(sample, seed)
    _is_due(sample, got)
    assert not disagreements(QUESTIONS[sample.question], got, seed)


def _is_due(sample: Sample, got: Verdict) -> None:
    question = QUESTIONS[sample.question]
    passes = sample.misconception is None or sample.due.passes
    assert got.status == ("passed" if passes else "failed"), text(got, question)
    if sample.misconception not in (None, "-"):
        assert sample.misconception in {finding.misconception for finding in got.findings}, text(got, question)
    if sample.misconception == "-":
        named = {miss.id for item in question.items for miss in item.misconceptions}
        assert not named & {finding.misconception for finding in got.findings}, text(got, question)


def test_every_named_miss_has_an_answer() -> None:
    """No diagnosis without a wrong answer that gets it."""
    named = {(question.id, miss.id) for question in ASKED for item in question.items for miss in item.misconceptions}
    due = {(s.question, miss) for s in samples() for miss in (s.misconception, s.due.elsewhere)}
    assert named == {(question, miss) for question, miss in due if miss not in (None, "-")}


@pytest.mark.parametrize("question", ASKED, ids=lambda q: q.id)
def test_question_is_complete(question) -> None:
    """Each question has three short hints, an explanation, and at least two wrong answers in the corpus."""
    wrong = [s for s in samples() if s.question == question.id and s.misconception]
    assert len(wrong) >= 2
    assert all(0 < len(hint.split()) <= 40 for hint in question.hints)
    assert 40 <= len(question.explanation.split()) <= 180
    assert len({item.name for item in question.items}) == len(question.items)
