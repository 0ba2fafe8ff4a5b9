"""A sheet with the answers that wait for a person, to be filled in a spreadsheet; and back into nbgrader's gradebook."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence

import nbformat
from nbgrader.api import MissingEntry

from shardlab.errors import ShardlabError
from shardlab_grader.by_hand.rubric import Rubric
from shardlab_grader.nbgrader.course import Course, quiet
from shardlab_grader.plain import inert, plain
from shardlab_grader.records import tables
from shardlab_grader.records.roster import Roster

MOST = 30_000
"""Characters of an answer in a sheet; a spreadsheet's cell holds 32,767."""
KEY, CELL, VERSION, ANSWER, COMMENT = "submission", "cell", "version", "answer", "comment"
FENCE = re.compile(r"(`{3,})text\n(.*)\n\1", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Waiting:
    """One answer, under its submission's key."""

    key: str
    student: str
    cell: str
    answer: str

    @property
    def version(self) -> str:
        """Tells whether this is still the answer that was marked."""
        return hashlib.sha256(self.answer.encode()).hexdigest()[:8]


def waiting(course: Course, assignment: str, cells: Sequence[str], everything: bool = False) -> list[Waiting]:
    """The answers that wait for a person, by key, which is no order of names; with `everything` those with points, too."""
    found = []
    students = [path.parents[1].name for path in course.root.glob(f"autograded/*/{assignment}/{assignment}.ipynb")]
    keys = Roster(course.root).enter(assignment, dict.fromkeys(students, ""))
    for student in students:
        path = course.root / "autograded" / student / assignment / f"{assignment}.ipynb"
        try:
            notebook = nbformat.reads(path.read_text(), as_version=4)
        except ValueError as error:  # nbformat's are such, too
            mend = f"shardlab-grader grade {assignment}, which writes it again."
            raise ShardlabError("bad-marks", f"a graded copy is damaged ({error}).", where=str(path), mend=mend) from None
        texts = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in notebook.cells}
        for cell in cells:
            if cell in texts and _is_due(course, assignment, student, cell, everything):
                fenced = FENCE.fullmatch(texts[cell])
                found.append(Waiting(keys[student], student, cell, fenced[2] if fenced else texts[cell]))
    return sorted(found, key=lambda one: (one.cell, one.key))


def _is_due(course: Course, assignment: str, student: str, cell: str, everything: bool) -> bool:
    with quiet(), course.gradebook() as gradebook:
        try:
            grade = gradebook.find_grade(cell, assignment, assignment, student)
        except MissingEntry:
            return False
        return bool(grade.needs_manual_grade or (everything and grade.manual_score is not None))


def head(line: str, most: float) -> str:
    """A rubric line's column."""
    return f"{line} (of {most:g})"


def write(path: pathlib.Path, answers: Sequence[Waiting], rubric: Rubric) -> None:
    """The sheet, with a column for each rubric line; keys in place of names, so that nobody knows whose it is."""
    heads = [head(line, most) for name in rubric.lines for line, most in rubric.lines[name].items()]
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([KEY, CELL, VERSION, ANSWER, *dict.fromkeys(heads), COMMENT])
        for one in answers:
            rows.writerow([one.key, one.cell, one.version, _inert(one.answer), *[""] * len(dict.fromkeys(heads)), ""])


def _inert(text: str) -> str:
    left = len(text) - MOST
    kept = plain(text[:MOST] + f"\n... and {left:,} characters more, in Formgrader" * (left > 0), keep="\n")
    return inert(kept)


@dataclasses.dataclass(frozen=True)
class Mark:
    """What a row of a sheet gives an answer: the points of each line, and what the student reads: these, and the comment."""

    answer: Waiting
    points: Mapping[str, float]
    comment: str


def read(path: pathlib.Path, answers: Sequence[Waiting], rubric: Rubric) -> list[Mark]:
    """The marks of a sheet; a row without any waits.

    Raises:
        ShardlabError: a row is of no answer that there is, of another version of it, or has points that cannot be.
    """
    known = {(one.key, one.cell): one for one in answers}
    try:
        _, rows = tables.rows(path)
    except (UnicodeDecodeError, csv.Error) as error:
        mend = "save the sheet as CSV in UTF-8, with the columns that it had."
        raise ShardlabError("bad-marks", f"the sheet cannot be read ({error}).", where=str(path), mend=mend) from None
    return [mark for number, row in enumerate(rows, 2) if (mark := _mark(row, known, rubric, f"{path}, row {number}"))]


def _mark(row: Mapping[str, str], known: Mapping[tuple[str, str], Waiting], rubric: Rubric, where: str) -> Mark | None:
    one = known.get((row.get(KEY, ""), row.get(CELL, "")))
    if one is None:
        mend = f"keep the columns {KEY} and {CELL} as they were written."
        raise ShardlabError("bad-marks", "a person does not grade this answer.", where=where, mend=mend)
    lines = rubric.lines[one.cell]
    given = {line: row.get(head(line, most), "") for line, most in lines.items()}
    if not any(given.values()):
        return None
    if row.get(VERSION) != one.version:
        what, mend = "the student has since handed in another answer.", "write the sheet again, and mark the new answer."
        raise ShardlabError("bad-marks", what, where=where, mend=mend)
    points = {line: _number(text, lines[line], f"{where}, column {head(line, lines[line])}") for line, text in given.items()}
    earned = "\n".join(f"- {line}: {points[line]:g} of {most:g}" for line, most in lines.items())
    comment = rubric.said(row.get(COMMENT, ""), where)
    return Mark(one, points, "\n\n".join(filter(None, [earned, comment])))


def _number(text: str, most: float, where: str) -> float:
    points = tables.number(text)
    if not 0 <= points <= most:
        raise ShardlabError("bad-marks", f"{text or 'nothing'!r} is not a number from 0 to {most:g}.", where=where,
                            mend="fill in every line of an answer that you mark, or none.")  # fmt: skip
    return points


def give(course: Course, assignment: str, marks: Sequence[Mark]) -> Iterator[str]:
    """Write marks into the gradebook, and the pages of those who have got one; says whose, and an error if there was one."""
    for mark in marks:
        with quiet(), course.gradebook() as gradebook:
            grade = gradebook.find_grade(mark.answer.cell, assignment, assignment, mark.answer.student)
            grade.manual_score, grade.needs_manual_grade = sum(mark.points.values()), False
            gradebook.find_comment(
                mark.answer.cell, assignment, assignment, mark.answer.student
            ).manual_comment = mark.comment
            gradebook.db.commit()
        yield course.feedback(assignment, mark.answer.student)
