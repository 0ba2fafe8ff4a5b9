"""Prose that a person grades: nbgrader's manually graded cell, from the source to the gradebook."""

from __future__ import annotations

import pathlib

import pytest

from shardlab_course.editions import edition
from shardlab_grader.classes import classroom
from shardlab_grader.nbgrader.course import Course, quiet
from shardlab_grader.releases.release import Release, release
from shardlab_grader.reports import report

from .conftest import NAME
from .test_nbgrader import silent

MARK = (
    '{"nbgrader": {"grade": true, "grade_id": "q90-1-why", "locked": false, "points": 3, "schema_version": 3, '
    '"solution": true, "task": false}}'
)
PROSE = f"\n+++ {MARK}\n\n*Your reasons:*\n\n+++\n"


@pytest.fixture
def made(tiny: pathlib.Path, tmp_path: pathlib.Path) -> Release:
    """The tiny chapter with a cell for prose, released."""
    path = tiny / "solutions" / f"{NAME}.md"
    path.write_text(path.read_text() + PROSE)
    return release(NAME, tmp_path / "course", tiny)


def hand_in(made: Release, student: str, notebook: edition.NotebookNode) -> None:
    path = made.course_dir / "submitted" / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(edition.to_ipynb(notebook))


def grade_of(made: Release, student: str) -> tuple[float | None, bool]:
    """Automatic score of the prose, and whether a person must look."""
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        grade = gradebook.find_grade("q90-1-why", NAME, NAME, student)
        return grade.auto_score, grade.needs_manual_grade


@pytest.mark.sandbox
def test_prose_waits_for_a_person(made: Release) -> None:
    """What was written waits, with its text kept; the cell as released earns nothing, nor does a deleted one."""
    (cell,) = [c for c in made.notebook.cells if c.id == "q90-1-why"]
    assert (cell.cell_type, cell.source) == ("markdown", "*Your reasons:*")
    for student, text in (("wrote", "Because *bytes*."), ("silent", cell.source), ("deleted", "")):
        notebook = made.notebook
        notebook.cells = [c for c in notebook.cells if c.id != cell.id or text]
        for each in notebook.cells:
            each.source = text if each.id == cell.id else each.source
        hand_in(made, student, notebook)
    rows = {row.student: row for row in classroom.grade(made.course_dir, NAME, "bubblewrap", 2, silent)}
    assert {row.status for row in rows.values()} == {"graded"}
    assert grade_of(made, "wrote") == (None, True)
    assert grade_of(made, "silent") == grade_of(made, "deleted") == (0, False)
    kept = (made.course_dir / "autograded" / "wrote" / NAME / f"{NAME}.ipynb").read_text()
    assert "Because *bytes*." in kept


@pytest.mark.sandbox
def test_points_by_hand_are_in_total_and_maximum(made: Release) -> None:
    """The class table has a column for them, says who waits, and counts what a person gave."""
    notebook = made.notebook
    next(cell for cell in notebook.cells if cell.id == "q90-1-why").source = "Because *bytes*."
    hand_in(made, "wrote", notebook)
    assert classroom.points(made) == {"90.1": 2.0, "90.2": 1.5, report.BY_HAND: 3.0}
    (row,) = classroom.grade(made.course_dir, NAME, "bubblewrap", 2, silent)
    assert (row.waiting, row.points.get(report.BY_HAND), row.total) == (True, None, 0.0)
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        grade = gradebook.find_grade("q90-1-why", NAME, NAME, "wrote")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.db.commit()
    (row,) = classroom.grade(made.course_dir, NAME, "bubblewrap", 2, silent)
    assert (row.waiting, row.points[report.BY_HAND], row.total) == (False, 2.5, 2.5)
    report.write_scores([row], classroom.points(made), made.course_dir / "class.csv")
    assert (made.course_dir / "class.csv").read_text().splitlines() == [
        "student,state,90.1,90.2,by hand,total,of,reason",
        'wrote,graded,0.0,0.0,2.5,2.5,6.5,"90.1, 90.2: not attempted"',
    ]


def mark(made: Release, student: str, name: str = "q90-1-why", points: float = 2.5) -> None:
    """What a person gives in Formgrader."""
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        grade = gradebook.find_grade(name, NAME, NAME, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


@pytest.mark.sandbox
def test_marks_stay_when_another_exercise_changes(made: Release, tiny: pathlib.Path) -> None:
    """A release with other points judges anew, and asks again for no mark of an answer that is the same."""
    notebook = made.notebook
    next(cell for cell in notebook.cells if cell.id == "q90-1-why").source = "Because *bytes*."
    hand_in(made, "ann", notebook)
    classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    mark(made, "ann")
    path = tiny / "solutions" / f"{NAME}.md"
    before = made.fingerprint
    path.write_text(path.read_text().replace("Double it.", "Double it, please."))
    assert release(NAME, made.course_dir, tiny).fingerprint != before
    (row,) = classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    assert (row.waiting, row.points[report.BY_HAND], row.total) == (False, 2.5, 2.5)
    path.write_text(path.read_text().replace('"points": 3', '"points": 4'))
    release(NAME, made.course_dir, tiny)
    (row,) = classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    assert row.waiting, "of other points a person decides anew"


@pytest.mark.sandbox
@pytest.mark.thorough
def test_a_mark_is_of_its_answer(made: Release) -> None:
    """Another answer waits; a mark on a judged exercise stays while the judge says the same."""
    notebook = made.notebook
    prose = next(cell for cell in notebook.cells if cell.id == "q90-1-why")
    prose.source = "Because *bytes*."
    hand_in(made, "ann", notebook)
    classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    for name, points in (("q90-1-why", 2.5), ("q90-1", 1.0)):
        mark(made, "ann", name, points)
    notebook.cells.append(edition.nbformat.v4.new_code_cell("x = 1"))
    path = made.course_dir / "submitted" / "ann" / NAME / f"{NAME}.ipynb"
    path.write_text(edition.to_ipynb(notebook))
    (row,) = classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    assert (row.waiting, row.total) == (False, 3.5)
    prose.source = "Because of time."
    path.write_text(edition.to_ipynb(notebook))
    (row,) = classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    assert row.waiting
