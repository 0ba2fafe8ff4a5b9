"""Predictions that ask why: one of three mechanisms, from one declaration for notebook, form and verdict."""

from __future__ import annotations

import pathlib

import nbformat
import pytest

from shardlab_course.chapters import QUESTIONS
from shardlab_course.editions import edition, header
from shardlab_judge.items.value import Believed, Why, why
from shardlab_judge.question import Question, Setting

ROOT = pathlib.Path(__file__).parents[2]
ASKING = [(q, item) for q in QUESTIONS.values() for item in q.items if isinstance(item, Why)]
ITEM = why("What falls?", a=Believed("Heavy things.", "weight", "The feather fell as fast."), b="All.", points=0.5)


def test_most_chapters_ask_why() -> None:
    """In twelve chapters or more, and no letter is the true one nearly always."""
    letters = [item.key for _, item in ASKING]
    assert len({q.id.partition(".")[0] for q, _ in ASKING}) >= 12
    assert all(letters.count(letter) >= len(letters) // 4 for letter in "abc")


@pytest.mark.parametrize("question, item", ASKING, ids=lambda it: getattr(it, "id", ""))
def test_three_mechanisms_are_listed_where_it_is_asked(question: Question, item: Why) -> None:
    """One is true, two have a cause; the notebook lists them before the cell that predicts, and asks for `why`."""
    assert list(item.mechanisms) == ["a", "b", "c"] and item.predicted and [*item.points] == ["P"]
    assert 0 < item.total <= question.points / 4
    assert {m.like for m in item.misconceptions} == {*"abc"} - {item.key}
    (path,) = (ROOT / "notebooks").glob(f"{int(question.id.partition('.')[0]):02d}_*.ipynb")
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells]
    (at,) = (n for n, text in enumerate(cells) if f'sl.predict("{question.id}"' in text)
    assert header.why(question) in cells[at - 1] and "why=" in cells[at].partition("sl.predict")[2]


@pytest.mark.parametrize("answer, cause", [("a", "weight"), ("b", None), ("B", None)])
def test_a_reason_earns_its_points_by_being_given(answer: str, cause: str | None) -> None:
    """Right or not; what is believed is told with what speaks against it, and with the true mechanism."""
    points, findings = ITEM.judge({"value": answer}, Setting("1.1", None, references=None))  # type: ignore[arg-type]
    assert points == {"P": 1.0} and [finding.misconception for finding in findings] == [cause] * bool(cause)
    assert not cause or (findings[0].expected, findings[0].cause) == ("b: All.", "The feather fell as fast.")


def test_what_is_no_letter_is_no_reason() -> None:
    """Another word is outside of the domain, and earns nothing."""
    points, (finding, *_) = ITEM.judge({"value": "gravity"}, Setting("1.1", None, references=None))  # type: ignore[arg-type]
    assert points == {} and "one of a, b" in finding.expected


def test_a_student_edition_keeps_no_letter() -> None:
    """The stub asks for `why` and does not say it."""
    assert all("why=..." in edition.stub(_predicting(q), q.id) for q, _ in ASKING[1:2])


def _predicting(question: Question) -> str:
    return f'### BEGIN SOLUTION\nsl.predict("{question.id}", why="b")\n### END SOLUTION'
