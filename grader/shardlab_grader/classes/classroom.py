"""Grading a class: every submission ends graded, or ungraded with the reason; none is dropped, and none stops the others."""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from shardlab.errors import ShardlabError
from shardlab_grader.classes import cluster, faults, grading
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.records import roster
from shardlab_grader.records.roster import Person, Roster
from shardlab_grader.records.store import Record, Store, key, sweep
from shardlab_grader.records.submissions import Submission, Unreadable, each
from shardlab_grader.releases.release import Release
from shardlab_grader.reports import report
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox.box import Mode
from shardlab_grader.sandbox.servers import Servers
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.question import Question

Advance = Callable[[], None]
Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""Shows a step of a known length; what it gives is called once for each part that is done."""
Told = Callable[[str, str, Record], None]
"""Is given student, key and record of each submission as soon as it is judged."""


def grade(
    course_dir: pathlib.Path,
    assignment: str,
    mode: Mode,
    workers: int,
    progress: Progress,
    student: str = "*",
    *,
    told: Told = lambda *_: None,
    scheduler: str | None = None,
    servers: Servers | None = None,
) -> list[Row]:
    """Grade what is new, then let nbgrader write the gradebook and the feedback pages; one row a submission.

    Args:
        told: hears each verdict at once.
        scheduler: address of a Dask cluster whose workers run the notebooks; they run here unless given.
        servers: as `jobs.starting` gives them; closed by the caller if there is nothing to grade.
    Raises:
        ShardlabError: the assignment is not released, the sandbox or the cluster does not start, the disk or the gradebook
            cannot be written.
    """
    faults.check(course_dir)
    sweep(course_dir)
    release = Release.load(course_dir, assignment)
    found, names = _read(release, student)
    keys = Roster(course_dir).enter(assignment, names)
    handed = Handed(release, {name: who for who, name in names.items() if name})
    new = handed.only(grading.missing(sorted(handed), release, mode))
    sharing = {name: [one for one in found if names[one.student] == name] for name in new}
    writer, rows = _Writer(release, names, frozenset(new)), dict[str, Row]()
    if new:
        with progress("running and judging", len(new)) as advance:
            for name, record in _graded(new, release, mode, workers, scheduler, servers):
                for one in sharing[name]:
                    told(one.student, keys[one.student], record)
                    # While the next ones run. What cannot be written now is tried once more when all have been judged.
                    with contextlib.suppress(ShardlabError):
                        rows[one.student] = writer.row(one)
                advance()
    with progress("writing the gradebook and feedback", len(found)) as advance:
        for one in found:
            rows[one.student] = dataclasses.replace(rows.get(one.student) or writer.row(one), key=keys[one.student])
            advance()
    return [rows[one.student] for one in found]


def rows(course_dir: pathlib.Path, assignment: str) -> list[Row]:
    """What is on record of a class, without grading anything."""
    release, store, course = Release.load(course_dir, assignment), Store(course_dir), Course(course_dir)
    found, names = _read(release)
    keys = Roster(course_dir).enter(assignment, dict.fromkeys(names, ""))
    made = [_on_record(one, names[one.student], assignment, store, course) for one in found]
    return [dataclasses.replace(row, key=keys[row.student]) for row in made]


def records(course_dir: pathlib.Path, assignment: str) -> list[Record]:
    """The record of each submission that has one; nothing says whose it is."""
    release, store, course = Release.load(course_dir, assignment), Store(course_dir), Course(course_dir)
    found, names = _read(release)
    graded = [store.get(names[one.student]) or store.get(_last(course, assignment, one.student)) for one in found]
    return sorted((record for record in graded if record), key=lambda record: json.dumps(record.to_json(), sort_keys=True))


def nameless(rows: Sequence[Row], course_dir: pathlib.Path) -> list[Row]:
    """The rows under their keys, without names, in the order of the keys: that of the class list would tell."""
    people = roster.people(course_dir)
    hidden = [
        dataclasses.replace(row, student=row.key, reason=people.get(row.student, Person(row.student)).hidden(row.reason))
        for row in rows
    ]
    return sorted(hidden, key=lambda row: row.key)


def points(release: Release) -> dict[str, float]:
    """The points of each question of the release, from its grade cells."""
    marks = [cell.metadata.get("nbgrader", {}) for cell in release.notebook.cells]
    given = {mark.grade_id: float(mark.points) for mark in marks if mark.get("grade")}
    return {question: given["q" + question.replace(".", "-")] for question in release.manifests}


def observed(release: Release) -> frozenset[str]:
    """The questions that are judged by what running processes said."""
    kinds = {question: {item["kind"] for item in manifest["items"]} for question, manifest in release.manifests.items()}
    return frozenset(question for question, found in kinds.items() if ProcessesItem.kind in found)


def questions(release: Release) -> list[Question]:
    """The declarations of the release's questions, in order."""
    from shardlab_course.chapters import QUESTIONS

    return [QUESTIONS[question] for question in release.manifests]


class Handed(Mapping[str, bytes]):
    """Submitted notebooks by the key of their verdict, read when they are wanted: a class does not lie in memory.

    Raises:
        Unreadable: the notebook is not any more the one that the key was made of.
    """

    def __init__(self, release: Release, students: Mapping[str, str]) -> None:
        self._release, self._students, self._fingerprint = release, students, release.fingerprint

    def __getitem__(self, name: str) -> bytes:
        student = glob.escape(self._students[name])
        for one in each(self._release.course_dir, self._release.assignment, student):
            if not one.problem and key(one.content, self._fingerprint) == name:
                return one.content
        raise Unreadable("changed while the class was graded.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._students)

    def __len__(self) -> int:
        return len(self._students)

    def only(self, names: Sequence[str]) -> Handed:
        """Those among them with these keys."""
        return Handed(self._release, {name: self._students[name] for name in names})


def _read(release: Release, student: str = "*") -> tuple[list[Submission], dict[str, str]]:
    """The submissions without their contents, and by student the key of the verdict: empty where there is a problem."""
    found, names, fingerprint = [], {}, release.fingerprint
    for one in each(release.course_dir, release.assignment, student):
        names[one.student] = "" if one.problem else key(one.content, fingerprint)
        found.append(dataclasses.replace(one, content=b""))
    return found, names


def _graded(
    new: Mapping[str, bytes], release: Release, mode: Mode, workers: int, scheduler: str | None, servers: Servers | None
) -> Iterator[tuple[str, Record]]:
    if scheduler is None:
        return grading.grade_all(new, release, mode, workers, servers)
    return cluster.grade_all(new, release, mode, scheduler)


class _Writer:
    """Has nbgrader write its gradebook and the feedback pages."""

    def __init__(self, release: Release, names: Mapping[str, str], new: frozenset[str]) -> None:
        self._release, self._names, self._new = release, names, new
        self._course, self._store = Course(release.course_dir), Store(release.course_dir)

    def row(self, one: Submission) -> Row:
        """Write a submission's points and page, if that was not done, and say what is on record."""
        error, name, course, assignment = "", self._names[one.student], self._course, self._release.assignment
        if one.problem:
            course.add_student(one.student)
        elif name in self._new or not _written(course, assignment, one.student, name):
            error = course.autograde(assignment, one.student) or course.feedback(assignment, one.student)
        if error:
            faults.check(self._release.course_dir)  # before it is taken for a fault of this submission
            return Row(one.student, "ungraded", reason=f"nbgrader: {error}")
        return _on_record(one, name, assignment, self._store, course)


def _written(course: Course, assignment: str, student: str, name: str) -> bool:
    """Whether nbgrader has already this verdict: grading it again would ask for every manual grade once more."""
    page = course.folder("feedback", assignment, student) / f"{assignment}.html"
    last = _last(course, assignment, student)
    return last == name and page.exists() and course.score(assignment, student) is not None


def _last(course: Course, assignment: str, student: str) -> str:
    """The key of the verdict that nbgrader was last given, or the empty text."""
    path = course.folder("autograded", assignment, student) / f"{assignment}.ipynb"
    try:
        return str(json.loads(path.read_text())["metadata"]["shardlab"]["verdict"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _on_record(one: Submission, name: str, assignment: str, store: Store, course: Course) -> Row:
    if one.problem:
        return Row(one.student, "ungraded", reason=one.problem)
    total = course.score(assignment, one.student)
    if (record := store.get(name)) and total is None:
        return Row(one.student, "ungraded", reason="judged, but not in the gradebook: run the same command again.")
    if record:
        return report.row(one.student, record, total)
    if record := store.get(_last(course, assignment, one.student)):
        row = report.row(one.student, record, total)
        return dataclasses.replace(row, reason="; ".join(filter(None, ["graded before a change", row.reason])))
    return Row(one.student, "ungraded", reason="not graded yet.")
