"""A term in progress: what was released keeps its points when the course gives its exercises others."""

from __future__ import annotations

import pathlib
import shutil

import nbformat
import pytest
from click.testing import CliRunner

from shardlab_course.editions import edition
from shardlab_grader import cli
from shardlab_grader.classes import classroom
from shardlab_grader.nbgrader.course import Course, quiet
from shardlab_grader.releases.release import Release, release
from shardlab_grader.reports import report
from shardlab_grader.reports.figures import figures

from .conftest import NAME, SYLLABUS
from .test_nbgrader import silent

TOLD = "the course has new points for 90.1; this release keeps the points that it was made with."


@pytest.fixture
def made(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    """The tiny chapter, released with 2 points for 90.1 and handed in right; the course then gives it 10."""
    shutil.copytree(tiny_course, tmp_path / "course")
    found = Release.load(tmp_path / "course", NAME)
    path = found.course_dir / "submitted" / "ann" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(edition.to_ipynb(found.notebook).replace("return ...  # TODO", "return 2 * n"))
    monkeypatch.setitem(SYLLABUS.questions, "90.1", SYLLABUS.questions["90.1"].worth(10))  # type: ignore[arg-type]
    return Release.load(found.course_dir, NAME)


def test_scores_figures_and_pages_have_the_old_points(made: Release) -> None:
    """The gradebook, the verdict, the class's figures and the feedback page say 2 of 2, and the total is of 3.5."""
    (row,) = classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    assert (row.points["90.1"], row.total) == (2.0, 2.0)
    assert classroom.points(made) == {"90.1": 2.0, "90.2": 1.5}
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        grade = gradebook.find_grade("q90-1", NAME, NAME, "ann")
        assert (grade.auto_score, grade.max_score) == (2.0, 2.0)
    found = figures(classroom.records(made.course_dir, NAME), classroom.questions(made))
    assert (found.of, found.totals, [one.of for one in found.exercises]) == (3.5, (2.0,), [2.0, 1.5])
    page = (made.course_dir / "feedback" / "ann" / NAME / f"{NAME}.html").read_text()
    assert "2 of 2 points" in page and "of 10 points" not in page


def test_the_command_says_so(made: Release) -> None:
    """`grade` names the exercises whose points are the old ones; without such exercises it says nothing."""
    ran = CliRunner().invoke(cli.main, ["grade", NAME, "--course", str(made.course_dir), "--workers", "1"])
    assert TOLD in ran.output, ran.output
    assert report.old_points([]) == []


def test_another_release_takes_the_new_points(made: Release, tiny: pathlib.Path) -> None:
    """Released again, the notebook has the new points, and so has what was handed in."""
    classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    again = release(NAME, made.course_dir, tiny)
    (row,) = classroom.grade(again.course_dir, NAME, "bubblewrap", 1, silent)
    assert (row.points["90.1"], row.total, classroom.outdated(again)) == (10.0, 10.0, [])
    cells = nbformat.read(again.course_dir / "release" / NAME / f"{NAME}.ipynb", as_version=4).cells
    assert [c.metadata.nbgrader.points for c in cells if c.id == "q90-1"] == [10]
