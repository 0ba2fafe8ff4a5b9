"""Days that single students have more than their section: the one file that keeps them, and the gradebook with the sums."""

from __future__ import annotations

import csv
import datetime
import io
import pathlib
from collections.abc import Mapping

from shardlab.errors import ShardlabError
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.records import tables
from shardlab_grader.records.store import write
from shardlab_grader.releases import places
from shardlab_grader.term.settings import Settings

FILE = "shardlab-extensions.csv"
COLUMNS = ("assignment", "student", "days")
MOST = 3650
Days = dict[str, dict[str, float]]
"""By assignment and student."""


def extend(course_dir: pathlib.Path, settings: Settings, assignment: str, days: Mapping[str, float]) -> None:
    """Give students so many days more than their section has; 0 takes them back.

    Raises:
        ShardlabError: the gradebook lacks one of them; then nothing has changed.
    """
    later, none, course = settings.later(assignment), datetime.timedelta(), Course(course_dir)
    kept, due = load(course_dir), course.deadlines(assignment).common is not None
    # Without a deadline nbgrader could not grade who has more time: `settings` gives it to them with the deadline.
    spans = {one: later.get(one, none) + datetime.timedelta(days=more) if due else none for one, more in days.items()}
    course.extend(assignment, spans)
    kept[assignment] = {one: more for one, more in {**kept.get(assignment, {}), **days}.items() if more}
    _save(course_dir, kept)


def load(course_dir: pathlib.Path) -> Days:
    """The days of all assignments."""
    path, found = course_dir / FILE, Days()
    if path.exists():
        for assignment, student, days in _rows(path, COLUMNS):
            found.setdefault(assignment, {})[student] = days
    return found


def table(path: pathlib.Path, assignment: str) -> dict[str, float]:
    """The days in a table of an instructor's, with the columns student and days; a column assignment chooses rows."""
    given = {student: days for name, student, days in _rows(path, COLUMNS[1:]) if _fits(name, assignment)}
    if not given:
        raise _unread(path, f"it has no row for {assignment}")
    return given


def forget(course_dir: pathlib.Path, student: str) -> None:
    """Strike a student out."""
    kept = load(course_dir)
    if any(student in days for days in kept.values()):
        _save(course_dir, {name: {one: n for one, n in days.items() if one != student} for name, days in kept.items()})


def _fits(name: str, assignment: str) -> bool:
    return not name or places.fitting(name, [assignment]) == [assignment]


def _rows(path: pathlib.Path, needed: tuple[str, ...]) -> list[tuple[str, str, float]]:
    """The assignment, the student and the days of each row.

    Raises:
        ShardlabError: it is no such table.
    """
    try:
        titles, rows = tables.rows(path)
    except (UnicodeDecodeError, csv.Error) as error:
        raise _unread(path, f"it is not CSV in UTF-8 ({error})") from None
    if missing := [name for name in needed if name not in titles]:
        raise _unread(path, f"it has no column {' and no '.join(missing)}")
    found = []
    for number, row in enumerate(rows, 2):
        student, days = row["student"], tables.number(row["days"])
        if not student or not 0 <= days <= MOST:
            raise _unread(path, f"row {number} needs a student and a number of days from 0 to {MOST}")
        found.append((row.get("assignment", ""), student, days))
    return found


def _save(course_dir: pathlib.Path, kept: Days) -> None:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((name, one, f"{days:g}") for name in sorted(kept) for one, days in sorted(kept[name].items()))
    write(course_dir / FILE, written.getvalue())


def _unread(path: pathlib.Path, what: str) -> ShardlabError:
    mend = "write it as:\nstudent,days\ngus,3"
    return ShardlabError("bad-extensions", f"the table of extensions cannot be used: {what}.", where=str(path), mend=mend)
