"""The stages of a submission: found, restored, run, admitted, launched, judged, recorded, written to nbgrader.

A class is found, restored, recorded and written in the order of its verdicts by the process that asked; `jobs` has it run,
admitted and judged on this machine, `cluster` on several. A notebook is normalised when it is found, and never again.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_course.variants import told, with_names
from shardlab_grader.border import artifact
from shardlab_grader.border.artifact import CellError, Recording
from shardlab_grader.border.entries import refused
from shardlab_grader.classes import faults, judging, notebook, unread
from shardlab_grader.classes.judging import Shared
from shardlab_grader.classes.notebook import Cell, Job, Settings
from shardlab_grader.classes.restore import job_cells, owners, restore
from shardlab_grader.nbgrader import pages
from shardlab_grader.nbgrader.course import Course, verdict_of
from shardlab_grader.records import roster, strays
from shardlab_grader.records.forms import parse
from shardlab_grader.records.roster import Person, Roster
from shardlab_grader.records.store import Record, Store, key
from shardlab_grader.records.submissions import Contents, Submission, each
from shardlab_grader.releases import variants
from shardlab_grader.releases.release import Release
from shardlab_grader.reports import itemised, report
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox.box import Mode, Outcome
from shardlab_judge.verdict import Verdict

ERRORS = 3
"""Exceptions told for one question."""


@dataclasses.dataclass(frozen=True)
class Grading:
    """The grading of a class: its release, and where code runs. What has to be read for it is read once."""

    release: Release
    mode: Mode = "bubblewrap"

    @functools.cached_property
    def released(self) -> NotebookNode:
        """The notebook that students were given."""
        return self.release.notebook

    def given(self, form: bytes) -> NotebookNode:
        """The notebook that the student of this handed-in form was given."""
        return self.release.vary.of(self.released, variants.names_in(form))

    @functools.cached_property
    def by_hand(self) -> Mapping[str, float]:
        """The points of each cell that a person grades, by its grade id."""
        return self.release.by_hand

    @functools.cached_property
    def ground(self) -> bytes:
        """What its verdicts depend on besides a student's cells and what they are asked."""
        return f"{self.release.seed}\n{self.release.judgement}\n".encode() + self.release.references.read_bytes()

    @functools.cached_property
    def settings(self) -> Settings:
        """How its notebooks are run and judged."""
        return dataclasses.replace(self.release.settings(self.mode), points=self.release.points)

    @functools.cached_property
    def people(self) -> Mapping[str, Person]:
        """What the gradebook calls its students."""
        return roster.people(self.release.course_dir)

    @functools.cached_property
    def course(self) -> Course:
        """The course directory, with nbgrader's own steps."""
        return Course(self.release.course_dir)

    @functools.cached_property
    def store(self) -> Store:
        """The verdicts that are kept."""
        return Store(self.release.course_dir)


@dataclasses.dataclass(frozen=True)
class Answers:
    """What the border let through of a run.

    `checked` are the answers by question, where single items that are missing are errors; `lost` has the questions without
    any, with the reason. `fault` says why nothing can be judged when that is not the student's doing, and `doubts` what need
    not be.
    """

    checked: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    lost: Mapping[str, str] = dataclasses.field(default_factory=dict)
    errors: tuple[CellError, ...] = ()
    limits_hit: tuple[str, ...] = ()
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    fault: str = ""
    doubts: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Graded:
    """A notebook's verdicts by question id.

    `errors` are the exceptions of its cells. `limits_hit` names each limit that ended something. `seconds` has the wall time
    of the stages `notebook`, `processes` and `judge`. `mode` is the sandbox's. `programs` has a hash of each question's
    programs. `doubts` says what need not be the student's doing: see `shardlab_grader.classes.again`.
    """

    verdicts: dict[str, Verdict]
    errors: tuple[CellError, ...] = ()
    limits_hit: tuple[str, ...] = ()
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    mode: Mode = "bubblewrap"
    programs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    doubts: tuple[str, ...] = ()


def found(release: Release, student: str = "*") -> Iterator[Submission]:
    """The submissions in their handed-in form, each with the key of its verdict, or with the problem."""
    fingerprint, known = release.fingerprint, roster.people(release.course_dir)
    for one in each(release.course_dir, release.assignment, student):
        if problem := strays.misspelt(one.student, known):
            yield Submission(one.student, problem=problem, stray=True)
        else:
            yield one if one.problem else _in_variant(release, one, fingerprint)


def _in_variant(release: Release, one: Submission, fingerprint: str) -> Submission:
    """A submission whose form says which variant its student was given; a problem where it is another's notebook."""
    names = release.names(one.student)
    if problem := variants.other(one.content, names):
        return Submission(one.student, problem=problem)
    content = variants.marked(one.content, names)
    return dataclasses.replace(one, content=content, key=key(content, fingerprint))


def restored(grading: Grading, name: str, content: bytes) -> Job:
    """A handed-in form under its key, with everything but the student's text taken from the release."""
    released, names = grading.given(content), variants.names_in(content)
    cells = job_cells(restore(parse(content), released), released)
    manifests = {question: with_names(manifest, names) for question, manifest in grading.release.manifests.items()}
    asked = json.dumps([list(map(dataclasses.asdict, cells)), manifests], sort_keys=True).encode()
    form, basis = (hashlib.sha256(text).hexdigest()[:16] for text in (content, asked + grading.ground))
    return Job(name, tuple(cells), manifests, grading.settings, form, basis)


def run(job: Job, shared: Shared) -> tuple[Outcome, bytes | None]:
    """How the run of the cells ended in their sandbox, and the bytes that it left.

    Raises:
        ShardlabError, OSError: the sandbox could not be made.
    """
    return notebook.run(job, shared.run_script)


def admitted(job: Job, outcome: Outcome, output: bytes | None) -> Answers:
    """What of these bytes keeps to the manifests."""
    recording = None if output is None else artifact.read(output, job.manifests, len(job.cells))
    hit, seconds = _limits_hit(job, outcome, recording), {"notebook": round(outcome.seconds, 3)}
    begun = recording is not None and (recording.cell is not None or recording.ended)
    if not begun and not outcome.stdout:
        return Answers(limits_hit=hit, seconds=seconds, fault=_unstarted(outcome))
    recording = recording or Recording({})
    reason = _unfinished(job, recording, outcome)
    lost = {question: reason for question in job.manifests if question not in recording.answers}
    checked = unread.with_errors(job, recording.errors, _complete(job.manifests, recording.answers, reason))
    return Answers(checked, lost, recording.errors, hit, seconds, doubts=(*outcome.doubts, *_late(recording)))


def launched(job: Job, answers: Answers, shared: Shared) -> Answers:
    """The answers, with what processes said of each function that left as text: they are run in a sandbox of their own.

    Raises:
        ShardlabError, OSError: the sandbox could not be made.
    """
    there = notebook.launching(job, answers.checked)
    if not there.manifests:
        return answers
    said = admitted(there, *run(there, shared))
    lost = {q: {item["name"]: refused(said.lost[q]) for item in there.manifests[q]["items"]} for q in said.lost}
    more = lost | {question: answer["items"] for question, answer in said.checked.items()}
    checked = {q: {"items": {**answer["items"], **more.get(q, {})}} for q, answer in answers.checked.items()}
    hit, seconds = (*answers.limits_hit, *said.limits_hit), {**answers.seconds, "processes": said.seconds["notebook"]}
    doubts = (*answers.doubts, *said.doubts)
    return dataclasses.replace(answers, checked=checked, limits_hit=hit, seconds=seconds, fault=said.fault, doubts=doubts)


def judged(job: Job, answers: Answers, shared: Shared) -> Graded:
    """The verdicts of the judge, which runs in a sandbox of its own; all are *ungraded* where there is a fault of ours."""
    if answers.fault:
        lost = ungraded(job.manifests, answers.fault)
        return Graded(lost, (), answers.limits_hit, answers.seconds, job.settings.mode, doubts=answers.doubts)
    judge = judging.Judging(answers.checked, answers.lost, job.settings, shared)
    judge.run()
    verdicts = {q: told(judge.verdicts[q], manifest.get("axes", {})) for q, manifest in job.manifests.items()}
    hit, seconds = (*answers.limits_hit, *judge.limits_hit), {**answers.seconds, "judge": round(judge.seconds, 3)}
    made = Graded(verdicts, answers.errors, hit, seconds, job.settings.mode, judging.identities(answers.checked))
    return dataclasses.replace(made, doubts=(*answers.doubts, *judge.doubts))


def recorded(grading: Grading, name: str, record: Record) -> Record:
    """The record as it was kept under this key: without the names of those who handed in."""
    students = Roster(grading.release.course_dir).students(name)
    nameless = roster.nameless(record, [grading.people.get(one, Person(one)) for one in students])
    grading.store.put(name, nameless)
    return nameless


def written(grading: Grading, one: Submission, contents: Contents, *, fresh: bool) -> Row:
    """Have nbgrader write the points and the page, if that was not done, and say what it has.

    Args:
        fresh: the verdict was made just now.
    """
    error, course, assignment = "", grading.course, grading.release.assignment
    if one.problem:
        if not one.stray:
            course.add_student(one.student)
    elif fresh or not _is_written(grading, one):
        error = course.autograde(assignment, one.student, contents[one.key], one.key)
        error = error or course.feedback(assignment, one.student)
    if error:
        faults.check(course.root, assignment)  # before it is taken for a fault of this submission
        return Row(one.student, "ungraded", reason=f"nbgrader: {error}")
    return row(grading, one)


def grade(job: Job, shared: Shared) -> Graded:
    """A job run, admitted, launched where processes are asked for, and judged.

    Nothing raised here is the student's: where our side fails, verdicts are *ungraded* with the reason.
    """
    try:
        asked = notebook.told(job)
        answers = launched(job, admitted(asked, *run(asked, shared)), shared)
    except (OSError, ShardlabError) as error:
        faults.stop_when_full(error)
        answers = Answers(fault=f"The sandbox did not start: {error}")
    return judged(job, answers, shared)


def record(job: Job, graded: Graded) -> Record:
    """What is to be kept of a job's verdicts, with the first exceptions of each question's cells in words."""
    notes = itemised.borrowed(job, graded.verdicts)
    errors = _errors(job.cells, graded.errors)
    return Record(graded.verdicts, graded.mode, errors, graded.seconds, graded.programs, notes, job.form, job.basis)


def row(grading: Grading, one: Submission) -> Row:
    """What the store and the gradebook have of a submission."""
    if one.problem:
        return Row(one.student, "ungraded", reason=one.problem)
    found = grading.course.scored(grading.release.assignment, one.student, grading.by_hand)
    total, marks = found.score, found.marks
    now, record = grading.store.get(one.key), kept(grading, one)
    # An extension, or a verdict before this one, has a score there already.
    if now and (total is None or not is_given(grading, one)):
        return Row(one.student, "ungraded", reason="judged, but not in the gradebook: run the same command again.")
    if not record:
        return Row(one.student, "ungraded", reason="not graded yet.")
    told = report.row(one.student, record, total)
    reasons = ["graded before a change" * (not now), found.lateness, one.note, told.reason]
    told = dataclasses.replace(told, reason="; ".join(filter(None, reasons)))
    if None in marks.values():
        return dataclasses.replace(told, waiting=True)
    given = {report.BY_HAND: sum(mark or 0.0 for mark in marks.values())} if marks else {}
    return dataclasses.replace(told, points={**told.points, **given})


def kept(grading: Grading, one: Submission) -> Record | None:
    """The record on a submission, or else the one that nbgrader was last given."""
    return grading.store.get(one.key) or grading.store.get(_last(grading, one.student))


def is_given(grading: Grading, one: Submission) -> bool:
    """Whether the verdict that nbgrader was last given is the one on this submission."""
    return not one.problem and _last(grading, one.student) == one.key


def given(grading: Grading, one: Submission) -> Record | None:
    """The record of the verdict that nbgrader was last given, if that is not the one on this submission."""
    last = "" if one.problem else _last(grading, one.student)
    return grading.store.get(last) if last and last != one.key else None


def missing(grading: Grading, names: Sequence[str]) -> list[str]:
    """The keys under which there is no record, one with a question ungraded, or one that was made in no sandbox."""
    return [name for name in names if not stands(grading.store.get(name), grading.mode)]


def ungraded(manifests: Mapping[str, Any], reason: str) -> dict[str, Verdict]:
    """For every question the same reason why we could not grade it."""
    return {question: Verdict(question, "ungraded", reason=reason) for question in manifests}


def stands(found: Record | None, mode: Mode) -> bool:
    """Whether a record has a verdict on every question, and was made in a sandbox like the one that is asked for."""
    return found is not None and not found.ungraded and found.sandbox in (mode, "bubblewrap")


def _is_written(grading: Grading, one: Submission) -> bool:
    """Whether nbgrader has already this verdict: grading it again would ask for every manual grade once more."""
    assignment = grading.release.assignment
    page = grading.course.folder("feedback", assignment, one.student) / f"{assignment}.html"
    there = _last(grading, one.student) == one.key and _tells(page, one.key)
    return there and grading.course.score(assignment, one.student) is not None


def _tells(page: pathlib.Path, key: str) -> bool:
    """Whether a feedback page is there, and not that of an earlier verdict."""
    try:
        with page.open("rb") as file:
            file.seek(max(0, page.stat().st_size - 200))
            return pages.of_verdict(key).encode() in file.read()
    except OSError:
        return False


def _last(grading: Grading, student: str) -> str:
    """The key of the verdict that nbgrader was last given, or the empty text."""
    assignment = grading.release.assignment
    return verdict_of(grading.course.folder("autograded", assignment, student) / f"{assignment}.ipynb")


def _complete(manifests: Mapping[str, Any], given: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """The answers in the course's order; a single item that is missing is an error."""
    names = {
        question: [item["name"] for item in manifests[question]["items"]] for question in manifests if question in given
    }
    return {
        question: {"items": {name: given[question]["items"].get(name, refused(reason)) for name in asked}}
        for question, asked in names.items()
    }


def _unfinished(job: Job, recording: Recording, outcome: Outcome) -> str:
    if recording.ended:
        said = f" ({recording.faults[0]})" if recording.faults else ""
        return f"Your notebook ran to its end, but no answer to this question could be read{said}."
    if recording.cell is None:
        whose = "notebook's" if job.cells else "processes'"
        return f"Your {whose} run left nothing to read ({outcome.ending})."
    return f"Your notebook did not finish: {outcome.ending} at {_label(job.cells, recording.cell)}."


def _label(cells: Sequence[Cell], number: int) -> str:
    """A cell as its writer can find it; its text is the student's."""
    return artifact.said(cells[number].label, 100) if number < len(cells) else f"cell {number + 1}"


def _limits_hit(job: Job, outcome: Outcome, recording: Recording | None) -> tuple[str, ...]:
    errors = recording.errors if recording else ()
    hit = [f"{error.message} ({_label(job.cells, error.cell)})" for error in errors if error.type == "CellTimeout"]
    return (*hit, f"notebook: {outcome.ending}") if outcome.status else tuple(hit)


def _late(recording: Recording) -> Iterator[str]:
    """What ended because time passed, which a busy machine does too; a limit of CPU time is another thing."""
    entries = [entry for answer in recording.answers.values() for entry in answer["items"].values()]
    errors = [error for entry in entries if (error := entry.get("error"))]
    told = [(error.type, error.message) for error in recording.errors] + [(e["type"], e["message"]) for e in errors]
    yield from (message for kind, message in told if kind == "CellTimeout" and "CPU" not in message)
    launches = [launch for entry in entries for launch in entry.get("launches", ())]
    if any(process.get("stopped") == "time" for launch in launches for process in launch.get("processes", ())):
        yield "processes that did not end in time"


def _unstarted(outcome: Outcome) -> str:
    said = artifact.said(outcome.stderr.strip()[-300:], 300)
    return f"The notebook's run left nothing to read ({outcome.ending}): {said or 'it said nothing'}"


def _errors(cells: Sequence[Cell], errors: Sequence[CellError]) -> dict[str, list[str]]:
    owner = owners(cells)
    told: dict[str, list[str]] = {}
    for error in errors:
        lines = told.setdefault(owner[error.cell] or "", []) if error.cell < len(owner) else []
        if len(lines) < ERRORS:
            what = f"{_label(cells, error.cell)}: {error.type}: {error.message}"[:300]
            lines.append(f"{what}\n{error.line}".rstrip())
    return told
