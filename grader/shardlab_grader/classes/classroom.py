"""Grading a class: every submission ends graded, or ungraded with the reason; none is dropped, and none stops the others."""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import itertools
import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from shardlab.errors import ShardlabError
from shardlab_course import dependence
from shardlab_grader.classes import cluster, faults, jobs, restating, restore, stages
from shardlab_grader.classes.notebook import Cell
from shardlab_grader.classes.stages import Grading
from shardlab_grader.records import changes as changing
from shardlab_grader.records import recognising, roster, strays
from shardlab_grader.records.changes import Change, changes
from shardlab_grader.records.roster import Person, Roster
from shardlab_grader.records.store import Record
from shardlab_grader.records.submissions import Contents, Submission
from shardlab_grader.releases.release import Release
from shardlab_grader.reports import report, similar
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox.box import Mode
from shardlab_grader.sandbox.servers import Servers
from shardlab_grader.term import reading
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.question import Question

Advance = Callable[[], None]
Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""Shows a step of a known length; what it gives is called once for each part that is done."""
Told = Callable[[str, str, Record], None]
"""Is given student, key and record of each submission as soon as it is judged."""
Changed = Callable[[Change], None]


@dataclasses.dataclass(frozen=True)
class _Class:
    """What was handed in: who, the key of each, and which handed-in forms are `new`, to be run and judged.

    `restated` has the records that only get other points, and `None` for a form that is new because that cannot be told.
    """

    grading: Grading
    contents: Contents
    found: Sequence[Submission]
    keys: Mapping[str, str]
    new: Sequence[str]
    restated: Mapping[str, Record | None]

    def jobs(self) -> Iterator[tuple[str, bytes]]:
        return ((name, self.contents[name]) for name in self.new)

    @property
    def step(self) -> str:
        """What the run does, and where submissions are equal for how many of them."""
        many = sum(one.key in self.new for one in self.found)
        said = "running and judging" + f" {many} submissions, equal ones once" * (many > len(self.new))
        parts = sum(record is None for record in self.restated.values())
        return said + f" ({parts} again, with a part of points that have changed)" * bool(parts)

    def tell(self, one: Submission, before: Record | None, now: Record | None, changed: Changed) -> None:
        for change in changes(self.keys[one.student], one.student, before, now) if before and now else ():
            changed(change)


def grade(
    course_dir: pathlib.Path,
    assignment: str,
    mode: Mode,
    workers: int,
    progress: Progress,
    student: str = "*",
    *,
    told: Told = lambda *_: None,
    changed: Changed = lambda _: None,
    scheduler: str | None = None,
    servers: Servers | None = None,
    dry: bool = False,
    again: bool = False,
) -> list[Row]:
    """Grade what is new, then let nbgrader write the gradebook and the feedback pages; one row a submission.

    Args:
        told: hears each verdict at once.
        changed: hears of each exercise whose points are others than those which nbgrader was last given.
        scheduler: address of a Dask cluster whose workers run the notebooks; they run here unless given.
        servers: as `starting.starting` gives them; closed by the caller if there is nothing to grade.
        dry: judge and tell, and write neither the gradebook nor pages nor verdicts.
        again: give nbgrader the verdicts that there are, too, which counts penalties anew.
    Raises:
        ShardlabError: the assignment is not released, the sandbox or the cluster does not start, the disk or the gradebook
            cannot be written.
    """
    grading = Grading(Release.load(course_dir, assignment), mode)
    faults.check(grading.course.root, assignment)
    changing.kept(course_dir, assignment)  # before anything is written of which it could not be told
    with Contents() as contents:
        found = [contents.keep(one) for one in stages.found(grading.release, student)]
        keys = Roster(course_dir).enter(assignment, {one.student: one.key for one in found})
        new = stages.missing(grading, sorted(contents))
        stands = restating.restated(grading, contents, found, new)
        handed = _Class(grading, contents, found, keys, [name for name in new if not stands.get(name)], stands)
        if dry:
            return _tried(handed, workers, servers, progress, changed)
        for name, record in stands.items():
            if record:
                stages.recorded(grading, name, record)
        fresh = {one.student for one in found if one.key in handed.new or not stages.is_given(grading, one)}
        with _kept(handed, changed) as tell:
            finals = _finals(grading, found) if again else {}
            rows = _run(handed, workers, scheduler, servers, progress, told, tell)
            _write(handed, rows, progress, tell, again=again)
        now = _finals(grading, found) if again else {}
    moved = {who: (finals[who], score) for who, score in now.items() if finals.get(who, score) != score}
    return [_told(rows[who], keys[who], who in fresh, moved.get(who)) for who in (one.student for one in found)]


def _told(row: Row, key: str, fresh: bool, final: tuple[float, float] | None) -> Row:
    return dataclasses.replace(row, key=key, fresh=fresh or final is not None, final=final)


def _finals(grading: Grading, found: Sequence[Submission]) -> dict[str, float]:
    """By student the score in the gradebook less the penalty for lateness, where there is one."""
    scored = {one.student: grading.course.scored(grading.release.assignment, one.student) for one in found}
    return {student: max(0.0, one.score - one.penalty) for student, one in scored.items() if one.score is not None}


@contextlib.contextmanager
def _kept(handed: _Class, changed: Changed) -> Iterator[Callable[[Submission], None]]:
    """Keep each student's changes before nbgrader is given them, so that a killed run has kept all; tell them in the end."""
    grading = handed.grading
    course_dir, assignment = grading.release.course_dir, grading.release.assignment
    before = {one.student: stages.given(grading, one) for one in handed.found}
    heard: dict[str, list[Change]] = {}

    def hear(one: Submission) -> None:
        new: list[Change] = []
        handed.tell(one, before[one.student], grading.store.get(one.key), new.append)
        if new and heard.get(one.student) != new:
            changing.keep(course_dir, assignment, new, dependence.versions())
        heard[one.student] = new

    try:
        yield hear
    except BaseException:
        with contextlib.suppress(OSError):  # of a full disk we are on the way to tell
            not_given = [heard.get(one.student, []) for one in handed.found if not stages.is_given(grading, one)]
            changing.take_back(course_dir, assignment, [*itertools.chain.from_iterable(not_given)])
        raise
    changing.keep(course_dir, assignment, [], dependence.versions())
    for change in itertools.chain.from_iterable(heard.values()):
        changed(change)


def _run(
    handed: _Class,
    workers: int,
    scheduler: str | None,
    servers: Servers | None,
    progress: Progress,
    told: Told,
    written: Callable[[Submission], None],
) -> dict[str, Row]:
    """What is new run, judged and kept; the row of each student for whom nbgrader could write it at once."""
    rows = dict[str, Row]()
    if not handed.new:
        return rows
    with progress(handed.step, len(handed.new)) as advance:
        for name, record in _graded(handed.grading, handed.jobs(), workers, scheduler, servers):
            for one in (one for one in handed.found if one.key == name):
                told(one.student, handed.keys[one.student], record)
                # While the next ones run. What cannot be written now is tried once more when all have been judged.
                with contextlib.suppress(ShardlabError):
                    written(one)
                    rows[one.student] = stages.written(handed.grading, one, handed.contents, fresh=True)
            advance()
    return rows


def _write(
    handed: _Class, rows: dict[str, Row], progress: Progress, told: Callable[[Submission], None], *, again: bool
) -> None:
    """Let nbgrader write what it was not given while others ran, and add its rows to `rows`."""
    left = [one for one in handed.found if one.student not in rows]
    if not left:
        return
    with progress("writing the gradebook and feedback", len(left)) as advance:
        for one in left:
            told(one)
            fresh = again or one.key in handed.new
            rows[one.student] = stages.written(handed.grading, one, handed.contents, fresh=fresh)
            advance()


def wanted(course_dir: pathlib.Path, assignment: str, student: str) -> str:
    """The pattern that names submissions, of a name, a key or a pattern.

    Raises:
        ShardlabError: there is no such student, or nothing was handed in.
    """
    found = Roster(course_dir).student(assignment, student) or student
    one = found not in ("", "..") and pathlib.PurePath(found).name == found
    exact = [glob.escape(found)] * (found != "*")  # a name that could be a pattern is a name first
    for pattern in (*exact, found) if one else ():
        if next((course_dir / "submitted").glob(f"{pattern}/{assignment}"), None) or _has_strays(
            course_dir, assignment, pattern
        ):
            return pattern
    mend = f"put each notebook at submitted/STUDENT/{assignment}/{assignment}.ipynb, then run the same command again."
    where = str(course_dir / "submitted")
    if found == "*":
        raise ShardlabError("nothing-to-grade", f"nobody has handed in {assignment}.", where=where, mend=mend)
    if found in roster.people(course_dir):
        raise ShardlabError("nothing-to-grade", f"this student has not handed in {assignment}.", where=where, mend=mend)
    what = f"'{student}' is neither a student who handed in {assignment} nor a key."
    mend = "write the name of the student's folder in submitted/, or the key of a submission; "
    mend += f"all of them: shardlab-grader report {assignment} --names"
    raise ShardlabError("unknown-student", what, where=where, mend=mend)


def _has_strays(course_dir: pathlib.Path, assignment: str, student: str) -> bool:
    ours = recognising.exercises(course_dir, assignment)
    return ours is not None and next(strays.strays(course_dir, ours, student), None) is not None


def absent(course_dir: pathlib.Path, assignment: str, rows: Iterable[Row]) -> dict[str, str]:
    """The students of the gradebook who have no row, each with the key that a submission would have."""
    missing = sorted(set(roster.people(course_dir)) - {row.student for row in rows})
    return Roster(course_dir).enter(assignment, dict.fromkeys(missing, ""))


def _tried(handed: _Class, workers: int, servers: Servers | None, progress: Progress, changed: Changed) -> list[Row]:
    """The rows of a run that writes nothing."""
    grading, records = handed.grading, {name: record for name, record in handed.restated.items() if record}
    with progress(handed.step, len(handed.new)) if handed.new else contextlib.nullcontext(lambda: None) as advance:
        asked = (stages.restored(grading, *job) for job in handed.jobs())
        for job, done in jobs.run_all(asked, workers, servers) if handed.new else ():
            records[job.key] = stages.record(job, done)
            advance()
    return [_tried_row(handed, one, records, changed) for one in handed.found]


def _tried_row(handed: _Class, one: Submission, records: Mapping[str, Record], changed: Changed) -> Row:
    grading, fresh = handed.grading, not stages.is_given(handed.grading, one)
    record = None if one.problem else records.get(one.key) or grading.store.get(one.key)
    last = stages.given(grading, one)
    handed.tell(one, last, record, changed)
    row = stages.row(grading, one)
    if record and fresh:
        before = row.total if last else None
        row = dataclasses.replace(report.row(one.student, record, _after(grading, one, last, record)), before=before)
    return dataclasses.replace(row, key=handed.keys[one.student], fresh=fresh)


def _after(grading: Grading, one: Submission, last: Record | None, record: Record) -> float:
    """The total that the gradebook will have: points that a person gave stay."""
    names = {question: "q" + question.replace(".", "-") for question in record.verdicts}
    had = grading.course.scored(grading.release.assignment, one.student, names.values())
    if last is None or had.score is None:
        return record.points
    judged = [q for q in names if q in last.verdicts and had.marks.get(names[q]) == last.verdicts[q].points]
    return round(had.score + sum(record.verdicts[q].points - last.verdicts[q].points for q in judged), 2)


def rows(course_dir: pathlib.Path, assignment: str) -> list[Row]:
    """What is known of a class, without grading anything."""
    grading = Grading(Release.load(course_dir, assignment))
    made = [stages.row(grading, one) for one in stages.found(grading.release)]
    keys = Roster(course_dir).enter(assignment, {row.student: "" for row in made})
    return [dataclasses.replace(row, key=keys[row.student]) for row in made]


def records(course_dir: pathlib.Path, assignment: str) -> list[Record]:
    """The record of each submission that has one; nothing says whose it is."""
    grading = Grading(Release.load(course_dir, assignment))
    kept = [stages.kept(grading, one) for one in stages.found(grading.release)]
    return sorted((record for record in kept if record), key=lambda record: json.dumps(record.to_json(), sort_keys=True))


def answers(course_dir: pathlib.Path, assignment: str) -> dict[str, dict[str, similar.Answer]]:
    """What each graded student wrote, by exercise, in a form in which names do not count."""
    grading = Grading(Release.load(course_dir, assignment))
    return {
        one.student: _written(record, stages.restored(grading, one.key, one.content).cells, _given(grading, one.content))
        for one in stages.found(grading.release)
        if not one.problem and (record := stages.kept(grading, one))
    }


def _given(grading: Grading, form: bytes) -> set[str]:
    return {cell.source for cell in grading.given(form).cells}


def _written(record: Record, cells: Sequence[Cell], given: set[str]) -> dict[str, similar.Answer]:
    own: dict[str, list[str]] = {}
    for cell, question in zip(cells, restore.owners(cells), strict=True):
        if question and question in record.verdicts and cell.question is None and cell.source not in given:
            own.setdefault(question, []).append(cell.source)
    found = {
        question: similar.answer(sources, record.programs.get(question, ""), record.verdicts[question].status == "passed")
        for question, sources in own.items()
    }
    return {question: one for question, one in found.items() if one}


def nameless(rows: Sequence[Row], course_dir: pathlib.Path) -> list[Row]:
    """The rows under their keys, without names, in the order of the keys: that of the class list would tell."""
    people = roster.people(course_dir)
    hidden = [
        dataclasses.replace(row, student=row.key, reason=people.get(row.student, Person(row.student)).hidden(row.reason))
        for row in rows
    ]
    return sorted(hidden, key=lambda row: row.key)


def kept_changes(course_dir: pathlib.Path, assignment: str, rows: Sequence[Row]) -> changing.Kept:
    """The versions that graded a class last, and every change of its scores, with the student of each row's key."""
    found, students = changing.kept(course_dir, assignment), {row.key: row.student for row in rows}
    named = (dataclasses.replace(change, student=students.get(change.key, change.key)) for change in found.changes)
    return dataclasses.replace(found, changes=tuple(named))


def points(release: Release) -> dict[str, float]:
    """The points of each question of the release, and of all that a person grades."""
    return release.points | ({report.BY_HAND: sum(release.by_hand.values())} if release.by_hand else {})


def observed(release: Release) -> frozenset[str]:
    """The questions that are judged by what running processes said."""
    kinds = {question: {item["kind"] for item in manifest["items"]} for question, manifest in release.manifests.items()}
    return frozenset(question for question, found in kinds.items() if ProcessesItem.kind in found)


def questions(release: Release) -> list[Question]:
    """The declarations of the release's questions, in order, with their points in the release."""
    from shardlab_course.chapters import QUESTIONS

    return [QUESTIONS[question].worth(points) for question, points in release.points.items()]


def outdated(release: Release) -> list[str]:
    """The questions that have other points in the release than in the course, or in its settings, as they are now."""
    from shardlab_course.chapters import QUESTIONS

    chosen = reading.load(release.course_dir).of(release.assignment)
    return [question for question, points in release.points.items() if points != chosen.worth(QUESTIONS[question])]


def _graded(
    grading: Grading, contents: Iterable[tuple[str, bytes]], workers: int, scheduler: str | None, servers: Servers | None
) -> Iterator[tuple[str, Record]]:
    if scheduler is None:
        return jobs.grade_all(grading, contents, workers, servers)
    return cluster.grade_all(grading, contents, scheduler)
