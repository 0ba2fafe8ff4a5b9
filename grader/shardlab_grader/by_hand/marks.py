"""A sheet with the answers that wait for a person, to be filled in a spreadsheet; and back into nbgrader's gradebook."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
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
GIVEN = (KEY, CELL, VERSION, ANSWER)
"""The columns that nobody fills in."""
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
        """Tells whether this is still the answer that was marked; a spreadsheet does not take it for a number."""
        return f"v{hashlib.sha256(self.answer.encode()).hexdigest()[:8]}"

    def is_of(self, row: Mapping[str, str]) -> bool:
        """Whether a row has this version; in older sheets it has no `v`."""
        return row.get(VERSION) in (self.version, self.version[1:])


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


def filled(path: pathlib.Path, answers: Sequence[Waiting]) -> dict[Waiting, dict[str, str]]:
    """What a person has filled into a sheet, whatever the column, by its answer.

    Args:
        answers: all that there are, those with points too.
    Raises:
        ShardlabError: the sheet cannot be read, or has something filled in of which a new one would have no row.
    """
    known = {(one.key, one.cell): one for one in answers}
    found, lost = dict[Waiting, dict[str, str]](), list[str]()
    for number, row in enumerate(_rows(path), 2):
        said = {title: text for title, text in row.items() if text and title not in GIVEN}
        one = known.pop((row.get(KEY, ""), row.get(CELL, "")), None) if said else None
        if one and one.is_of(row):
            found[one] = said
        elif said:
            lost.append(str(number))
    if lost:
        what = "what is filled in here would be lost: the answer is another one by now, or there is none."
        mend = "write to another file; or delete what is named here, if nobody needs it. All other rows stay."
        where = f"{path}, row{'s' * (len(lost) > 1)} {', '.join(lost)}"
        raise ShardlabError("bad-marks", what, where=where, mend=mend)
    return found


def write(
    path: pathlib.Path, answers: Sequence[Waiting], rubric: Rubric, kept: Mapping[Waiting, Mapping[str, str]] | None = None
) -> None:
    """The sheet, with a column for each rubric line; keys in place of names, so that nobody knows whose it is.

    Args:
        kept: what was filled into an earlier sheet; these answers have a row, too.
    """
    kept, written = kept or {}, io.StringIO()
    heads = [head(line, most) for name in rubric.lines for line, most in rubric.lines[name].items()]
    titles = dict.fromkeys([*GIVEN, *heads, COMMENT, *(title for said in kept.values() for title in said)])
    rows = csv.DictWriter(written, list(titles), restval="")
    rows.writeheader()
    for one in sorted({*answers, *kept}, key=lambda one: (one.cell, one.key)):
        rows.writerow(dict(zip(GIVEN, (one.key, one.cell, one.version, _inert(one.answer)))) | dict(kept.get(one, {})))
    path.write_bytes(written.getvalue().encode())


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
    known, rows = {(one.key, one.cell): one for one in answers}, enumerate(_rows(path), 2)
    return [mark for number, row in rows if (mark := _mark(row, known, rubric, f"{path}, row {number}"))]


def _rows(path: pathlib.Path) -> list[dict[str, str]]:
    try:
        return tables.rows(path)[1]
    except (UnicodeDecodeError, csv.Error) as error:
        mend = "save the sheet as CSV in UTF-8, with the columns that it had; or name another file."
        raise ShardlabError("bad-marks", f"the sheet cannot be read ({error}).", where=str(path), mend=mend) from None


def _mark(row: Mapping[str, str], known: Mapping[tuple[str, str], Waiting], rubric: Rubric, where: str) -> Mark | None:
    one = known.get((row.get(KEY, ""), row.get(CELL, "")))
    if one is None:
        mend = f"keep the columns {KEY} and {CELL} as they were written."
        raise ShardlabError("bad-marks", "a person does not grade this answer.", where=where, mend=mend)
    lines = rubric.lines[one.cell]
    given = {line: row.get(head(line, most), "") for line, most in lines.items()}
    if not any(given.values()):
        return None
    if not one.is_of(row):
        what = "the student has since handed in another answer."
        mend = "delete this row, and read the sheet again; then write to it again, which keeps the other marks."
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
    """Write marks into the gradebook, with what lateness costs then, and the pages of those who have got one.

    An error of each, or the empty text.
    """
    for mark in marks:
        with quiet(), course.gradebook() as gradebook:
            grade = gradebook.find_grade(mark.answer.cell, assignment, assignment, mark.answer.student)
            grade.manual_score, grade.needs_manual_grade = sum(mark.points.values()), False
            gradebook.find_comment(
                mark.answer.cell, assignment, assignment, mark.answer.student
            ).manual_comment = mark.comment
            gradebook.db.commit()
        yield course.penalty(assignment, mark.answer.student) or course.feedback(assignment, mark.answer.student)
