"""nbgrader's steps with ours in their place, by configuration alone: stubs, restored cells, and scores from verdicts."""

from __future__ import annotations

import functools
import html
import json
import math
import pathlib
import re
import warnings
from collections.abc import Mapping
from typing import Any, cast

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import determine_grade, is_grade
from traitlets import Unicode
from traitlets.config import Config

from shardlab_course.checking import feedback
from shardlab_course.editions import edition
from shardlab_grader.classes import jobs, unread
from shardlab_grader.classes.restore import is_manual, restore
from shardlab_grader.classes.stages import Grading
from shardlab_grader.nbgrader import doors, pages
from shardlab_grader.nbgrader.course import version
from shardlab_grader.plain import plain
from shardlab_grader.records.forms import handed_in
from shardlab_grader.records.roster import Roster
from shardlab_grader.records.store import Record, Store, key
from shardlab_grader.releases import variants
from shardlab_grader.releases.release import Release
from shardlab_grader.reports.itemised import itemised
from shardlab_grader.sandbox.box import Mode
from shardlab_judge.question import Question
from shardlab_judge.verdict import Verdict

Converted = tuple[NotebookNode, ResourcesDict]
NO_RESPONSE = "No response."
UNREAD = "Python could not read these lines. We ran the rest of their cells, and judged each exercise by what ran."


def configure(c: Config) -> None:
    """Put our steps in the place of nbgrader's for releases of ours. Nothing of a student's runs in nbgrader's process."""
    doors.ask_first()
    c.AssignLatePenalties.plugin_class = "shardlab_grader.term.penalties.CoursePenalty"
    # A page holds all that it shows, and runs no script: see `shardlab_grader.nbgrader.pages`.
    c.HTMLExporter.extra_template_basedirs = [str(pages.TEMPLATES), doors.TEMPLATES]
    c.HTMLExporter.filters = {
        "markdown2html": "shardlab_grader.nbgrader.pages.markdown",
        "highlight_code": "shardlab_grader.nbgrader.pages.highlighted",
    }
    warnings.filterwarnings("ignore", category=_advice())


class StubSolutions(NbGraderPreprocessor):
    """In place of ClearSolutions: the same stubs as in `notebooks/`."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Converted:
        return edition.student(nb), resources


class RestoreCells(NbGraderPreprocessor):
    """In place of DeduplicateIds and OverwriteCells: see `shardlab_grader.classes.restore`."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Converted:
        names = resources["nbgrader"]
        root = _folder(self, "release", names["assignment"]).parents[1]
        released = variants.released(root, names["assignment"], names["student"])
        return pages.inert(restore(nb, released), released), resources


class SaveVerdicts(NbGraderPreprocessor):
    """In place of Execute and SaveAutoGrades: scores, comments and feedback from the stored verdict, or graded on the spot.

    A question that we fail to grade keeps the points that it had, none if it is new, waits for a person, and says why. What
    a person gave stays, as long as the answer and the judge's points for it are those that it was given for.
    """

    sandbox = Unicode("bubblewrap", help="where to run code that has no stored verdict: bubblewrap or none").tag(config=True)
    verdict = Unicode(help="the key of the stored verdict, set by the caller that has looked it up").tag(config=True)
    before = Unicode("{}", help="what was marked, by student, as `course.marked_in` returns it, in JSON").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Converted:
        names = resources["nbgrader"]
        key, record = self._verdicts(names["assignment"], names["student"])
        declared = _declared()
        verdicts = {cell.metadata.nbgrader.grade_id: _verdict(cell, record) for cell in nb.cells if _is_grade(cell)}
        prose = {cell.metadata.nbgrader.grade_id: determine_grade(cell)[0] for cell in nb.cells if is_manual(cell)}
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            if _is_grade(cell):
                verdict = verdicts[cell.metadata.nbgrader.grade_id]
                cell.outputs = [_output(verdict, declared.get(verdict.question), record, cell.metadata.nbgrader.points)]
        with Gradebook(names["db_url"]) as gradebook:
            theirs = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
            _save(theirs, verdicts, prose, self._unchanged(nb, verdicts, names["assignment"], names["student"]))
            gradebook.db.commit()
        nb.cells[:0] = _unread(record)
        nb.metadata["shardlab"] = {"verdict": key, "sandbox": record.sandbox}
        return nb, resources

    def _unchanged(self, nb: NotebookNode, verdicts: Mapping[str, Verdict], assignment: str, student: str) -> set[str]:
        """The grade cells whose answers are those that were marked, and those that are judged as they were before."""
        marked = json.loads(self.before).get(student, {})
        record = Store(_folder(self, "release", assignment).parents[1]).get(marked.get("", ""))
        old = record.verdicts if record else {}
        marks = {cell.metadata.nbgrader.grade_id: cell for cell in nb.cells if is_manual(cell)}
        same = {name for name, c in marks.items() if marked.get(name) == version(c.source, c.metadata.nbgrader.points)}
        return same | {name for name, now in verdicts.items() if _scored(old.get(now.question)) == _scored(now)}

    def _verdicts(self, assignment: str, student: str) -> tuple[str, Record]:
        try:
            root = _folder(self, "release", assignment).parents[1]
            if self.verdict and (found := Store(root).get(self.verdict)):
                return self.verdict, found
            content = handed_in((_folder(self, "submitted", assignment, student) / f"{assignment}.ipynb").read_bytes())
            made, fingerprint = _release(root, assignment)
            theirs = made.names(student)
            if problem := variants.other(content, theirs):
                return "", Record({}, "", {"": [problem]})
            content = variants.marked(content, theirs)
            name = key(content, fingerprint)
            if (found := Store(root).get(name)) and not found.ungraded:
                return name, found
            # So that what is kept of this student can be found and forgotten, and holds no name.
            Roster(root).enter(assignment, {student: name})
            return name, jobs.grade_one(Grading(made, cast(Mode, self.sandbox)), name, content)
        except Exception as error:
            self.log.error("a submission of %s is not graded: %s", assignment, error)
            return "", Record({}, "", {"": [f"{type(error).__name__}: {error}"]})


def _scored(verdict: Verdict | None) -> tuple[str, float, float] | None:
    return None if verdict is None else (verdict.status, verdict.points, verdict.of)


def _save(
    notebook: SubmittedNotebook, verdicts: Mapping[str, Verdict], prose: Mapping[str, float | None], unchanged: set[str]
) -> None:
    """Scores go to every grade of the gradebook, not only to those whose cells the student left in.

    What is written for a person waits for one, unless the cell is as it was released, or was marked and is `unchanged`.
    """
    lost = Verdict("", "ungraded", reason="The release no longer has this cell.")
    for grade in notebook.grades:
        if grade.cell.name in prose:
            grade.auto_score = prose[grade.cell.name]
            open_ = grade.auto_score is None if grade.manual_score is None else grade.cell.name not in unchanged
            grade.needs_manual_grade = open_
            continue
        verdict = verdicts.get(grade.cell.name, lost)
        if verdict.status != "ungraded":
            grade.auto_score = _points(verdict, grade.cell.max_score)
        marked = grade.manual_score is not None
        grade.needs_manual_grade = (marked and grade.cell.name not in unchanged) or verdict.status == "ungraded"
    for comment in notebook.comments:
        if comment.cell.name in prose:
            comment.auto_comment = NO_RESPONSE if prose[comment.cell.name] == 0 else None
            continue
        verdict = verdicts.get(comment.cell.name.partition("-answer")[0], lost)
        said = {"unattempted": NO_RESPONSE, "ungraded": html.escape(verdict.reason)}
        comment.auto_comment = said.get(verdict.status)


def _verdict(cell: NotebookNode, record: Record) -> Verdict:
    match = edition.GRADE.match(cell.source)
    question = match[1] if match else cell.metadata.nbgrader.grade_id
    if question in record.verdicts:
        return record.verdicts[question]
    reason = "; ".join(record.errors.get("", ["the release does not know this question"]))
    return Verdict(question, "ungraded", reason=f"We could not grade this; a person will look. {reason}")


def _points(verdict: Verdict, most: float) -> float:
    points = float(verdict.points)
    return min(max(points, 0.0), float(most)) if math.isfinite(points) and verdict.status != "ungraded" else 0.0


def _output(verdict: Verdict, question: Question | None, record: Record, most: float) -> NotebookNode:
    """The grade cell's only output: its points, which nbgrader's own tools can read, and the feedback, which people can."""
    told = feedback.html(verdict, question, hints=False) if question else f"<p>{html.escape(verdict.reason)}</p>"
    lost = [f"Points: {parts}."] if (parts := itemised(verdict)) else []
    told += "".join(f"<p>{html.escape(said)}</p>" for said in (*lost, *record.notes.get(verdict.question, ())))
    cells = record.errors.get(verdict.question, ())
    raised = "".join(f"<li style='white-space:pre-wrap'>{html.escape(said)}</li>" for said in cells)
    page = f"{told}<p>Cells of this exercise that stopped with an exception:</p><ul>{raised}</ul>" if raised else told
    shown: dict[str, Any] = {"text/plain": repr(_points(verdict, most)), "text/html": page}
    return nbformat.v4.new_output("execute_result", data=shown, execution_count=None)


def _unread(record: Record) -> list[NotebookNode]:
    """A cell for the top of the page with every line that Python could not read; none where there is no such line."""
    said = {line for lines in record.errors.values() for line in lines if unread.TOLD.search(line)}
    if not said:
        return []
    text = "\n\n".join(plain(line, keep="\n") for line in sorted(said))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    told = f"{fence}text\n{UNREAD}\n\n{text}\n{fence}"
    return [nbformat.v4.new_markdown_cell(told, id="shardlab-unread", metadata={pages.FIRST: True})]


def _is_grade(cell: NotebookNode) -> bool:
    return bool(is_grade(cell)) and not is_manual(cell)


def _release(root: pathlib.Path, assignment: str) -> tuple[Release, str]:
    """The release and its fingerprint, read again when its files have changed."""
    paths = [*sorted((root / "shardlab").glob(f"{assignment}*.json")), *(root / "release" / assignment).glob("*.ipynb")]
    return _loaded(root, assignment, tuple((path, path.stat().st_mtime_ns, path.stat().st_ino) for path in paths))


@functools.lru_cache(maxsize=1)
def _loaded(root: pathlib.Path, assignment: str, states: tuple[tuple[pathlib.Path, int, int], ...]) -> tuple[Release, str]:
    made = Release.load(root, assignment)
    return made, made.fingerprint


def _declared() -> Mapping[str, Question]:
    from shardlab_course.chapters import QUESTIONS

    return QUESTIONS


def _folder(step: NbGraderPreprocessor, name: str, assignment: str, student: str = ".") -> pathlib.Path:
    directory: CourseDirectory = step.parent.parent.coursedir
    return pathlib.Path(directory.format_path(getattr(directory, f"{name}_directory"), student, assignment))


def _advice() -> type[Warning]:
    from sqlalchemy.exc import SAWarning

    return SAWarning
