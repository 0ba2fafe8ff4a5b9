"""Points follow work: what ten minutes earn is nearly the same everywhere, and a little more where an exercise is harder."""

from __future__ import annotations

import collections
import json
import pathlib
import statistics

import pytest

from shardlab_course.chapters import CHAPTERS, QUESTIONS
from shardlab_course.editions import edition, header

ROOT = pathlib.Path(__file__).parents[1]


def by_hand() -> dict[str, float]:
    """By question the points of the prose that belongs to it and that a person grades."""
    given: dict[str, float] = collections.Counter()
    for path in edition.chapters(ROOT):
        for cell in edition.source(path, header.syllabus(ROOT)).cells:
            mark = cell.metadata.get("nbgrader", {})
            if mark.get("grade") and mark.get("solution"):
                chapter, exercise, *_ = mark["grade_id"].removeprefix("q").split("-")
                given[f"{chapter}.{exercise}"] += mark["points"]
    return given


HAND = by_hand()
POINTS = {id: question.points + HAND.get(id, 0) for id, question in QUESTIONS.items()}
MEAN = sum(POINTS.values()) / sum(question.minutes for question in QUESTIONS.values())


@pytest.mark.parametrize("id", QUESTIONS)
def test_ten_minutes_earn_nearly_the_same(id: str) -> None:
    """From 0.8 to 1.2 of the mean over all exercises, prose that a person grades included."""
    assert 0.8 <= POINTS[id] / QUESTIONS[id].minutes / MEAN <= 1.2


def test_harder_exercises_earn_no_less() -> None:
    """On the average of the exercises of one difficulty, from 2 to 5."""
    rates = collections.defaultdict(list)
    for id, question in QUESTIONS.items():
        rates[question.difficulty].append(POINTS[id] / question.minutes)
    means = [statistics.fmean(rates[difficulty]) for difficulty in (2, 3, 4, 5)]
    assert means == sorted(means)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_whole_tens(chapter: int) -> None:
    """The points of all exercises of a chapter, with those that a person gives."""
    assert sum(POINTS[question.id] for question in CHAPTERS[chapter]) % 10 == 0


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_can_be_worth_other_points(question) -> None:
    """As many as are asked for, exactly, each part with its share to a hundredth; with its own points it is itself."""
    assert question.worth(question.points) is question
    for points in (1, 3.5, 7.77):
        other = question.worth(points)
        assert other.points == pytest.approx(points, abs=1e-9)
        for before, now in zip(question.items, other.items, strict=True):
            for letter, most in before.points.items():
                assert now.points[letter] == pytest.approx(most * points / question.points, abs=0.0101)
                assert now.points[letter] == round(now.points[letter], 2)
        assert json.dumps(other.manifest(7)) == json.dumps(question.manifest(7))
