"""The marks of a viva, filled in by a person: the sum of each student's."""

from __future__ import annotations

import csv
import math
import pathlib

from shardlab.errors import ShardlabError
from shardlab_grader.records import tables
from shardlab_grader.records.roster import Roster

COLUMNS = ("assignment", "student", "question", "exercise", "kind", "mark")


def totals(path: pathlib.Path, course_dir: pathlib.Path, assignment: str) -> tuple[dict[str, float], set[str]]:
    """The sum of each student's marks, and the students whose marks are not all filled in.

    Raises:
        ShardlabError: it is no such table, or of another assignment, or a mark is no number.
    """
    try:
        titles, rows = tables.rows(path)
    except (UnicodeDecodeError, csv.Error) as error:
        raise _error(path, f"it is not CSV in UTF-8 ({error})") from None
    if missing := [name for name in COLUMNS if name not in titles]:
        raise _error(path, f"it has no column {' and no '.join(missing)}")
    found, open_ = dict[str, float](), set[str]()
    for number, row in enumerate(rows, 2):
        student = Roster(course_dir).student(assignment, row["student"]) or row["student"]
        mark = tables.number(row["mark"] or "0")
        if row["assignment"] != assignment or not 0 <= mark < math.inf:
            raise _error(path, f"row {number} has no mark from 0 on for {assignment}")
        found[student] = found.get(student, 0.0) + mark
        open_ |= set() if row["mark"] else {student}
    return {student: mark for student, mark in found.items() if student not in open_}, open_


def _error(path: pathlib.Path, what: str) -> ShardlabError:
    mend = "fill in the column mark of the table that viva wrote, and keep its other columns as they are."
    return ShardlabError("bad-marks", f"the marks cannot be used: {what}.", where=str(path), mend=mend)
