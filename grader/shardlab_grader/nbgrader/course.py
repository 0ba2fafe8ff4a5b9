"""A course directory, and nbgrader's own steps run on it in this process, quietly."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import glob
import hashlib
import io
import json
import logging
import math
import os
import pathlib
import secrets
import shutil
import sys
import traceback
import warnings
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import nbformat
import nbgrader.api
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins.export import CsvExportPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import Engine, create_engine
from traitlets.config import Config, Configurable
from traitlets.config.loader import PyFileConfigLoader
from traitlets.log import get_logger

from shardlab.errors import ShardlabError
from shardlab_grader.records import ledger
from shardlab_grader.records.forms import Unreadable
from shardlab_grader.records.submissions import stage
from shardlab_grader.releases import places

STAGED = ".shardlab-staged"
"""Begins the name of what nbgrader is shown in place of `submitted/`; each time another folder. It names the student, so
it is not below `shardlab/`."""


@dataclasses.dataclass(frozen=True)
class Scored:
    """What the gradebook has of a submission: its score without penalties, the points of cells that a person grades (`None`
    where it waits for one), the seconds after the student's own deadline, and the points that these cost."""

    score: float | None = None
    marks: Mapping[str, float | None] = dataclasses.field(default_factory=dict)
    late: float = 0.0
    penalty: float = 0.0

    @property
    def lateness(self) -> str:
        """In words; empty where it is not late."""
        if self.late <= 0:
            return ""
        hours, minutes = divmod(math.ceil(self.late / 60), 60)
        parts = ((hours // 24, "day"), (hours % 24, "hour"), (minutes, "minute"))
        spans = [f"{n} {unit}{'s' * (n != 1)}" for n, unit in parts if n]
        return f"late by {' '.join(spans)}: {self.penalty:g} point{'s' * (self.penalty != 1)} less"


@dataclasses.dataclass(frozen=True)
class Deadlines:
    """An assignment's common deadline, if it has one, and by student how much more time the student has."""

    common: datetime.datetime | None
    more: Mapping[str, datetime.timedelta]


class Course:
    """nbgrader's steps for one course directory, with the configuration file in it.

    Each step returns the last error that nbgrader logged, or the empty text.
    """

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root.resolve()
        self._config = _config(self.root)
        self._engines: dict[str, Engine] = {}
        self._whole = set[tuple[str, int]]()

    def generate(self, assignment: str) -> str:
        """Make `release/` from `source/`, and the assignment's rows in the gradebook.

        nbgrader adds and removes no exercise once a student is entered. Who has only more time is taken out meanwhile.
        """
        waiting = {} if self.begun(assignment) else self._take_out(assignment)
        error = self._run(_one(GenerateAssignment), assignment, ".")
        self.extend(assignment, waiting)
        return error

    def autograde(self, assignment: str, student: str, content: bytes | None = None, verdict: str = "") -> str:
        """Write the verdicts on one submission into the gradebook and `autograded/`.

        nbgrader copies all that lies beside a notebook, and what a link there leads to, so it is shown the notebook alone.

        Args:
            content: its handed-in form; made now unless given.
            verdict: the key of the verdict on it; looked for unless given.
        """
        with staging(self.root) as place:
            try:
                stage(self.root, assignment, student, place / student / assignment, content)
            except Unreadable as error:
                return str(error)
            told = Config({"SaveVerdicts": {"verdict": verdict}})
            return self._run(_one(Autograde), assignment, student, told, submitted_directory=place.name)

    def feedback(self, assignment: str, student: str) -> str:
        """Make one student's feedback page."""
        return self._run(_one(GenerateFeedback), assignment, student)

    def penalty(self, assignment: str, student: str) -> str:
        """Count anew what lateness costs one student."""
        return self._run(Penalties, assignment, student)

    def export(self, assignment: str, path: pathlib.Path) -> None:
        """Write nbgrader's own table of grades as CSV."""
        exporter = CsvExportPlugin(config=self._config)
        exporter.to, exporter.assignment = str(path), [assignment]
        with quiet(), self.gradebook() as gradebook:
            exporter.export(gradebook)

    def add_student(self, student: str) -> None:
        """Make sure that the gradebook knows the student, graded or not."""
        with quiet(), self.gradebook() as gradebook:
            gradebook.update_or_create_student(student)

    def score(self, assignment: str, student: str) -> float | None:
        """The points in the gradebook, manual grades included; `None` without a submission."""
        return self.scored(assignment, student).score

    def scored(self, assignment: str, student: str, by_hand: Collection[str] = ()) -> Scored:
        """What the gradebook has of a submission, with the grade cells that `by_hand` names."""
        with quiet(), self.gradebook() as gradebook:
            try:
                found = gradebook.find_submission(assignment, student)
            except MissingEntry:
                return Scored()
            grades = [grade for notebook in found.notebooks for grade in notebook.grades] if by_hand else []
            mine = {grade.cell.name: grade for grade in grades if grade.cell.name in by_hand}
            marks = {name: None if one.needs_manual_grade else one.score for name, one in mine.items()}
            return Scored(found.score, marks, found.total_seconds_late, found.late_submission_penalty or 0.0)

    def extend(self, assignment: str, spans: Mapping[str, datetime.timedelta]) -> None:
        """Give each student so much more time than all, or take it back with none.

        Raises:
            ShardlabError: the gradebook lacks one of them; then nobody's deadline has changed.
        """
        with quiet(), self.gradebook() as gradebook:
            if unknown := sorted(set(spans) - {one.id for one in gradebook.students}):
                what = f"the gradebook does not know {', '.join(unknown)}."
                mend = f"nbgrader db student add {unknown[0]}, or write the name as it is in the gradebook."
                raise ShardlabError("unknown-student", what, where=f"{self.root}", mend=mend)
            for student, span in spans.items():
                gradebook.update_or_create_submission(assignment, student).extension = span or None
            gradebook.db.commit()

    def deadlines(self, assignment: str) -> Deadlines:
        """The common deadline, and by how much more each student has who has more."""
        with quiet(), self.gradebook() as gradebook:
            found = gradebook.find_assignment(assignment)
            time = found.duedate and found.duedate.replace(tzinfo=datetime.UTC)
            return Deadlines(time, {one.student.id: one.extension for one in found.submissions if one.extension})

    def set_deadline(self, assignment: str, time: datetime.datetime) -> None:
        """Set the common deadline."""
        with quiet(), self.gradebook() as gradebook:
            gradebook.update_or_create_assignment(assignment, duedate=time.astimezone(datetime.UTC).isoformat())

    def begun(self, assignment: str) -> bool:
        """Whether a student has scores in the gradebook, so that nbgrader refuses to add and to remove exercises."""
        with quiet(), self.gradebook() as gradebook:
            found = [notebook for one in gradebook.assignment_submissions(assignment) for notebook in one.notebooks]
            grades = [grade for one in found for grade in one.grades]
            return any(grade.auto_score is not None or grade.manual_score is not None for grade in grades)

    def _take_out(self, assignment: str) -> dict[str, datetime.timedelta]:
        with quiet(), self.gradebook() as gradebook:
            spans = {one.student.id: one.extension for one in gradebook.assignment_submissions(assignment)}
            for student in spans:
                gradebook.remove_submission(assignment, student)
            return {student: span for student, span in spans.items() if span}

    def students(self) -> set[str]:
        """The ids of all in the gradebook."""
        with quiet(), self.gradebook() as gradebook:
            return {one.id for one in gradebook.students}

    def gradebook(self) -> Gradebook:
        """nbgrader's database; a context manager."""
        directory = self._directory()
        with self._opening():
            return Gradebook(directory.db_url, directory.course_id)

    def folder(self, step: str, assignment: str, student: str = ".") -> pathlib.Path:
        """Where nbgrader keeps the files of a step: `release`, `submitted`, `autograded`, `feedback`."""
        directory = self._directory()
        return pathlib.Path(directory.format_path(getattr(directory, f"{step}_directory"), student, assignment))

    def _directory(self, **traits: str) -> CourseDirectory:
        return CourseDirectory(config=self._config, root=str(self.root), **traits)

    def _run(
        self, step: type[BaseConverter], assignment: str, student: str = "*", more: Config | None = None, **traits: str
    ) -> str:
        names = traits | {"assignment_id": assignment, "student_id": student}
        config = copy.deepcopy(self._config)
        config.merge(more or Config())
        converter = step(coursedir=self._directory(**names), config=config, force=True)
        with quiet() as log, self._opening():
            try:
                converter.start()
            except Exception as error:
                return _last_error(log.getvalue()) or f"{type(error).__name__}: {error}"
        return ""

    @contextlib.contextmanager
    def _opening(self) -> Iterator[None]:
        """nbgrader opens its gradebook eight times a submission: it need not look for every table and prepare all anew."""
        create_all = nbgrader.api.Base.metadata.create_all

        def once(bind: Engine) -> None:
            if _file_of(bind) not in self._whole:
                create_all(bind=bind)
                self._whole = {_file_of(bind)}

        with (
            in_place_of(nbgrader.api, "create_engine", self._engine),
            in_place_of(nbgrader.api.Base.metadata, "create_all", once),
        ):
            yield

    def _engine(self, url: str, **options: Any) -> Engine:
        if url not in self._engines:
            self._engines[url] = create_engine(url, **options)
        return self._engines[url]


class Penalties(BaseConverter):
    """The one step of autograding that counts what lateness costs. It reads the gradebook alone, and runs nothing."""

    def start(self) -> None:
        course = self.coursedir
        names = {"notebook": course.assignment_id, "assignment": course.assignment_id, "student": course.student_id}
        # As when nbgrader autogrades, where an exporter is between a converter and its steps.
        step = AssignLatePenalties(parent=Configurable(parent=self))
        step.preprocess(nbformat.v4.new_notebook(), {"nbgrader": {**names, "db_url": course.db_url}})


@contextlib.contextmanager
def staging(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """A new folder of this process alone, for what nbgrader is to take for `submitted/`."""
    place = root / f"{STAGED}.{os.getpid()}.{secrets.token_hex(4)}"
    with ledger.entered(place):
        place.mkdir(mode=0o700)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _file_of(engine: Engine) -> tuple[str, int]:
    """The database's file, and which one of this name it is: 0 while there is none."""
    path = pathlib.Path(engine.url.database or "")
    return str(path), path.stat().st_ino if path.exists() else 0


def _one(step: type[BaseConverter]) -> type[BaseConverter]:
    """The step for the one student of this name, which nbgrader takes for a pattern, and cannot escape in all places."""

    class One(step):  # type: ignore[misc, valid-type, unused-ignore]
        def init_notebooks(self) -> None:
            place = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
            found = glob.glob(os.path.join(glob.escape(place), "*.ipynb"))
            self.assignments = {place: found} if found else {}
            self.notebooks: list[str] = []

    return One


def version(text: str, points: float) -> str:
    """Tells whether an answer, and what a person can give for it, are still those that were marked."""
    return hashlib.sha256(f"{points:g}\n{text}".encode()).hexdigest()[:16]


def marked_in(autograded: pathlib.Path) -> dict[str, str]:
    """The version of each answer for a person in an autograded notebook, by its grade id; under `""` the verdict's key."""
    try:
        cells = json.loads(autograded.read_text())["cells"]
        marks = [(cell["metadata"].get("nbgrader", {}), "".join(cell["source"])) for cell in cells]
        found = {m["grade_id"]: version(text, m["points"]) for m, text in marks if m.get("grade") and m.get("solution")}
        return found | {"": verdict_of(autograded)}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def verdict_of(autograded: pathlib.Path) -> str:
    """The key of the verdict that an autograded notebook names, or the empty text."""
    try:
        return str(json.loads(autograded.read_text())["metadata"]["shardlab"]["verdict"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Keep nbgrader's logs and all warnings off the screen; what is logged as an error can be read in the buffer."""
    log = get_logger()
    assert isinstance(log, logging.Logger)
    buffer = io.StringIO()
    kept = logging.StreamHandler(buffer)
    kept.setLevel(logging.ERROR)
    # The gradebook writes its tracebacks to a log of Tornado's.
    logs = {one: one.propagate for one in (log, logging.getLogger("tornado.application"))}
    for one in logs:
        one.addHandler(kept)
        one.propagate = False
    try:
        with warnings.catch_warnings(), _own_commands_first():
            # SQLAlchemy's advice on nbgrader's tables, nbformat's on a student's cell ids: nobody here can follow it.
            warnings.simplefilter("ignore")
            yield buffer
    finally:
        for one, propagates in logs.items():
            one.propagate = propagates
            one.removeHandler(kept)


@contextlib.contextmanager
def in_place_of(owner: Any, name: str, ours: object) -> Iterator[None]:
    """Let code that is not ours find this under a name of its own; there is no option for it.

    Raises:
        AttributeError: `owner` has no such name, so that another version of it is noticed.
    """
    theirs, own = getattr(owner, name), name in vars(owner)
    setattr(owner, name, ours)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, theirs)
        else:  # its class has it
            delattr(owner, name)


@contextlib.contextmanager
def _own_commands_first() -> Iterator[None]:
    """A new gradebook asks the command `alembic` for its version; this Python's own need not be on the path."""
    before = os.environ.get("PATH")
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), before or os.defpath])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before


def _config(root: pathlib.Path) -> Config:
    """The course's configuration.

    Raises:
        ShardlabError: there is none, it has a mistake, or it lacks our steps: nbgrader's own would run what students wrote.
    """
    places.check_course(root)
    try:
        config = PyFileConfigLoader(places.CONFIG, path=str(root)).load_config()
    except Exception as error:
        line = next((f", line {n}" for n in _lines(error, places.CONFIG)), "")
        what, where = f"the configuration has a mistake: {type(error).__name__}: {error}.", f"{root / places.CONFIG}{line}"
        raise ShardlabError("bad-config", what, where=where, mend="mend it, or take out what was added to it.") from None
    if "shardlab_grader" not in str(config.HTMLExporter.get("filters")):
        raise places.foreign(root)
    return config


def _lines(error: Exception, name: str) -> Iterator[int]:
    """Where in a file of this name an exception was raised, the innermost place first."""
    if isinstance(error, SyntaxError) and error.lineno:
        yield error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    yield from (frame.lineno for frame in reversed(frames) if frame.filename.endswith(name) and frame.lineno)


def _last_error(log: str) -> str:
    """The exception's own line of the traceback that nbgrader logged."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    told = [line for line in lines if line[0].isalpha() and "Error" in line.partition(":")[0]]
    return (told or lines or [""])[-1]
