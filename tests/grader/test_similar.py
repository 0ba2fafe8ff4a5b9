"""Answers that are equal after renaming: what is equal, what is rare, and who sees it."""

from __future__ import annotations

import pathlib
import shutil

import nbformat
import pytest
from click.testing import CliRunner

from shardlab_grader import cli
from shardlab_grader.classes import classroom
from shardlab_grader.reports import similar
from shardlab_grader.reports.similar import LEAST, Alike, Answer, Shared

from .conftest import NAME
from .test_small_faults import silent

MINE = '''\
def double(n):
    """Twice."""
    total: int = 0
    for _ in range(2):  # once, and once more
        total += n
    return total
'''
THEIRS = """\
def double(number):
    s = 0
    for i in range(2): s += number
    return s
"""
OTHERS = {
    "another number": THEIRS.replace("2", "3"),
    "another call": THEIRS.replace("range", "list"),
    "two names for one": THEIRS.replace("return s", "return number"),
    "another order": THEIRS.replace("s += number", "s = number + s"),
}


def test_names_and_looks_do_not_count() -> None:
    """Names that the answer gives, comments, docstrings, annotations and line breaks may differ."""
    mine, theirs = similar.answer([MINE]), similar.answer([THEIRS])
    assert mine is not None and mine == theirs and mine.lines == 5
    assert similar.answer([MINE.split("\n    for")[0] + "\n", "for"]) is None


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_computed_counts(name: str) -> None:
    """So does a name that the answer does not give itself."""
    assert similar.answer([OTHERS[name]]) != similar.answer([THEIRS])


@pytest.mark.parametrize("source", ["a = 1\nb = 2", "def f(:", "(" * 9000, "x = " + "-" * 90_000 + "1"], ids=lambda s: s[:8])
def test_what_is_not_compared(source: str) -> None:
    """Short answers, and what Python cannot read."""
    assert source.count("\n") < LEAST and similar.answer([source]) is None


def test_what_many_wrote_tells_nothing() -> None:
    """Of ten, two share a rare answer, of which six have the program; the four who wrote another alike are no pairs."""
    wrote = ["r", "r", *"mmmm", *"abcd"]
    programs = ["p"] * 6 + [""] * 4
    answers = {f"s{n}": {"4.2": Answer(text, 5, program)} for n, (text, program) in enumerate(zip(wrote, programs))}
    assert similar.alike(answers) == [Alike(("s0", "s1"), (Shared("4.2", 5, 2, 6, 10, True),))]
    assert similar.alike(dict(list(answers.items())[:7])) is None
    assert similar.sentences(None, NAME) == ["The report does not compare answers: that takes 8 submissions."]
    assert similar.sentences([], NAME) == ["No two students share an answer that is rare in this class."]


def test_pairs_that_share_most_come_first() -> None:
    """Then those whose answers are rarer, and longer."""
    answers = {f"s{n}": {"4.1": Answer(f"{n // 2}", 5 + n // 2), "4.2": Answer(f"{n}", 5)} for n in range(8)}
    answers["s0"]["4.2"] = answers["s1"]["4.2"] = Answer("x", 9, "p", passed=False)
    found = similar.alike(answers)
    assert found is not None and [pair.students for pair in found] == [
        ("s0", "s1"),
        ("s6", "s7"),
        ("s4", "s5"),
        ("s2", "s3"),
    ]
    assert found[0].shared == (Shared("4.2", 9, 2, 2, 8, False), Shared("4.1", 5, 2, 0, 8, True))


@pytest.mark.thorough
@pytest.mark.sandbox
def test_the_instructor_alone_sees_pairs(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """In the terminal, under keys unless names are asked for; no page has them."""
    course = shutil.copytree(tiny_course, tmp_path / "course")
    for n in range(8):
        notebook = nbformat.read(course / "release" / NAME / f"{NAME}.ipynb", as_version=4)
        (cell,) = (cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "q90-1-answer")
        cell.source = {0: MINE, 1: THEIRS}.get(n, THEIRS.replace("2", f"{n} + 2"))
        place = course / "submitted" / f"student{n}" / NAME
        place.mkdir(parents=True)
        nbformat.write(notebook, place / f"{NAME}.ipynb")
    keys = {row.student: row.key for row in classroom.grade(course, NAME, "bubblewrap", 1, silent)}
    page = tmp_path / "report.html"
    asked = ["report", NAME, "--course", str(course), "--similar"]
    named, hidden = (CliRunner().invoke(cli.main, [*asked, *more]) for more in (["--names"], ["--html", str(page)]))
    assert named.exit_code == hidden.exit_code == 0
    assert "student0 and student1 90.1 5 2 of 8 - right Listed:" in " ".join(named.output.split())
    assert "A right answer that is short proves nothing" in hidden.output and "student0" not in hidden.output
    assert f"{keys['student0']} and {keys['student1']}" in hidden.output
    assert "proves nothing" not in page.read_text() and " and " + keys["student1"] not in page.read_text()
