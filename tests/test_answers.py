"""Every answer of the corpus goes through record and judge, as a submission's does, and gets the verdict at its head."""

from __future__ import annotations

import functools

import pytest
from corpus import SAMPLES, Sample

from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking.feedback import html, text
from shardlab_judge.judging import judge
from shardlab_judge.references import References, build

SEED = 20


@functools.cache
def references(question: str) -> References:
    """Costs of the corpus's own `reference.py`, in the public cases and in drawn ones."""
    asked = QUESTIONS[question]
    reference = next(s for s in SAMPLES if s.question == question and s.path.stem == "reference")
    return build([asked], {question: reference.answer(asked, SEED)}, SEED)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.question}-{s.path.stem}")
def test_answer_gets_its_verdict(sample: Sample) -> None:
    """A right answer passes with full points; a wrong one fails with its own diagnosis and its exact points."""
    question = QUESTIONS[sample.question]
    verdict = judge(question, sample.answer(question, SEED), references(question.id), SEED)
    assert verdict.status == ("failed" if sample.miss else "passed"), text(verdict, question)
    if sample.miss not in (None, "-"):
        assert sample.miss in {finding.misconception for finding in verdict.findings}, text(verdict, question)
    expected = question.points if sample.miss is None else sample.points
    assert expected is None or verdict.points == expected, text(verdict, question)
    assert verdict.points < question.points or sample.miss is None
    assert html(verdict, question).startswith("<div")


def test_every_named_miss_has_an_answer() -> None:
    """No diagnosis without a wrong answer that gets it."""
    named = {
        (question.id, miss.id) for question in QUESTIONS.values() for item in question.items for miss in item.misconceptions
    }
    assert named == {(s.question, s.miss) for s in SAMPLES if s.miss not in (None, "-")}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda q: q.id)
def test_question_is_complete(question) -> None:
    """Each question has three short hints, an explanation, and at least two wrong answers in the corpus."""
    wrong = [s for s in SAMPLES if s.question == question.id and s.miss]
    assert len(wrong) >= 2
    assert all(0 < len(hint.split()) <= 40 for hint in question.hints)
    assert 40 <= len(question.explanation.split()) <= 180
    assert len({item.name for item in question.items}) == len(question.items)
