"""The demonstration: a sample class is released, graded and compared with the scores written beside its answers."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shardlab.errors import ShardlabError
from shardlab_course.editions import edition, header
from shardlab_grader.classes import classroom
from shardlab_grader.demo import sampling
from shardlab_grader.demo.sampling import Sample
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.releases.release import Release, chapter, release
from shardlab_grader.reports import report
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox.box import Mode, usable_cores

MARK = ".shardlab-demo"


def run(course_dir: pathlib.Path, root: pathlib.Path, mode: Mode, console: Console, progress: classroom.Progress) -> int:
    """Run the demonstration in a fresh course directory; the exit status is 1 when a score is not the expected one.

    Raises:
        ShardlabError: `course_dir` holds something else, or a sample has a mistake.
    """
    course_dir = _fresh(course_dir.resolve())
    counted, wrong = 0, list[str]()
    for assignment in sampling.assignments():
        rows, found = _graded(assignment, course_dir, root, mode, console, progress)
        counted, wrong = counted + len(rows), wrong + found
    for name, path in (("gradebook", "gradebook.db"), ("feedback", "feedback/*/*/*.html"), ("scores", "*.csv")):
        console.print(f"{name:<10} {course_dir / path}", soft_wrap=True)
    for line in wrong:
        console.print(line)
    console.print("every score is as expected." if not wrong else f"not as expected: {len(wrong)} of {counted}.")
    return int(bool(wrong))


def _graded(
    assignment: str, course_dir: pathlib.Path, root: pathlib.Path, mode: Mode, console: Console, progress: classroom.Progress
) -> tuple[list[Row], list[str]]:
    """The rows of one assignment, from release to gradebook, and what is not as expected."""
    with console.status(f"releasing {assignment}: running its solution and measuring it"):
        made = release(assignment, course_dir, root, mode)
    console.print(f"released {assignment}")
    sample_class = sampling.read(assignment)
    hand_in(sample_class, made, root)
    rows = classroom.grade(course_dir, assignment, mode, usable_cores(), progress)
    console.print(report.table(rows, classroom.points(made), observed=classroom.observed(made)))
    console.print(report.summary(rows))
    console.print(_compared(sample_class, rows))
    Course(course_dir).export(assignment, course_dir / f"{assignment}.csv")
    return rows, differences(sample_class, rows)


def hand_in(sample_class: Sequence[Sample], made: Release, root: pathlib.Path) -> None:
    """Write the sample class's submissions into `submitted/`."""
    solved = edition.solution(edition.source(chapter(made.assignment, root), header.syllabus(root)))
    for sample in sample_class:
        path = made.course_dir / "submitted" / sample.student / made.assignment / f"{made.assignment}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sample.submission(made.notebook, solved))


def differences(sample_class: Sequence[Sample], rows: Sequence[Row]) -> list[str]:
    """For each submission whose score or reason is not the expected one: a sentence."""
    got = {row.student: row for row in rows}
    found = []
    for sample in sample_class:
        row = got.get(sample.student, Row(sample.student, "ungraded", reason="no row in the report"))
        if row.total != sample.points or (row.status == "ungraded") != (sample.points is None):
            found.append(f"{sample.student}: expected {_shown(sample.points)}, got {_shown(row.total)} ({row.reason})")
        elif sample.reason not in row.reason:
            found.append(f"{sample.student}: expected the reason '{sample.reason}', got: {row.reason}")
    return found


def _compared(sample_class: Sequence[Sample], rows: Sequence[Row]) -> Table:
    got = {row.student: row.total for row in rows}
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("sample", "expected", "got", "what it does"):
        shown.add_column(name, overflow="fold")
    for sample in sample_class:
        shown.add_row(sample.student, _shown(sample.points), _shown(got.get(sample.student)), escape(sample.about))
    return shown


def _shown(points: float | None) -> str:
    return "ungraded" if points is None else f"{points:g}"


def _fresh(course_dir: pathlib.Path) -> pathlib.Path:
    if course_dir.exists() and any(course_dir.iterdir()):
        if not (course_dir / MARK).exists():
            mend = "name a directory that does not exist yet: shardlab-grader demo DIR"
            raise ShardlabError("directory-in-use", "the directory holds something else.", where=str(course_dir), mend=mend)
        shutil.rmtree(course_dir)
    course_dir.mkdir(parents=True)
    (course_dir / MARK).touch()
    return course_dir
