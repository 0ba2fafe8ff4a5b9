"""nbgrader's commands and Formgrader's buttons: a release of ours walks the road of `shardlab-grader`, all else nbgrader's.

nbgrader copies what lies in `submitted/`, links and all, before its configuration can have a say, and removes what it had
made. So each converter asks first whose assignment it is given; one that is not ours gets nbgrader's own steps untouched.
"""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import glob
import json
import logging
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager

from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.server_extensions import formgrader
from traitlets.config import Config

from shardlab_course import dependence
from shardlab_grader.nbgrader import pages
from shardlab_grader.nbgrader.course import STAGED, marked_in, staging, verdict_of
from shardlab_grader.plain import plain
from shardlab_grader.records import changes, lock, sharing
from shardlab_grader.records.forms import Unreadable
from shardlab_grader.records.roster import Roster
from shardlab_grader.records.store import Store
from shardlab_grader.records.submissions import stage
from shardlab_grader.releases import places
from shardlab_grader.releases.release import all_or_nothing
from shardlab_grader.reports import report

OURS, THEIRS = "shardlab_grader.nbgrader_plugin.", "nbgrader.preprocessors."
GENERATE = [
    f"{THEIRS}LockCells",
    f"{OURS}StubSolutions",
    f"{THEIRS}ClearOutput",
    f"{THEIRS}CheckCellMetadata",
    f"{THEIRS}ComputeChecksums",
    f"{THEIRS}SaveCells",
]
TEMPLATES = str(pathlib.Path(formgrader.__file__).with_name("templates"))
Steps = Callable[[BaseConverter], AbstractContextManager[None]]


def ask_first() -> None:
    """Have nbgrader's converters ask, in this process; once is enough."""
    for converter, name, steps in (
        (GenerateAssignment, "generate_assignment", _generating),
        (Autograde, "autograde", _autograding),
        (GenerateFeedback, "generate_feedback", _telling),
    ):
        if converter.start.__module__ != __name__:
            converter.start = _asking(converter.start, name, steps)


def _asking(theirs: Callable[[BaseConverter], None], name: str, steps: Steps) -> Callable[[BaseConverter], None]:
    def start(self: BaseConverter) -> None:
        asked = self.coursedir.assignment_id
        met = fnmatch.filter(places.releases(pathlib.Path(self.coursedir.root)), asked)
        if met and met != [asked]:
            # nbgrader's own step would run what is ours, and students' code with it, outside of any sandbox.
            self.log.error("%s is more than one assignment, including %s: name one at a time", asked, met[0])
            raise NbGraderException(f"name one assignment instead of {asked}")
        if met and sharing.shared(pathlib.Path(self.coursedir.root)):
            self.coursedir.groupshared = True
        with _alone(self, name, steps) if met else _untouched(self):
            theirs(self)

    return start


@contextlib.contextmanager
def _alone(step: BaseConverter, name: str, steps: Steps) -> Iterator[None]:
    """Ours, with the course to itself, unless a command of ours has it and calls."""
    root, command = pathlib.Path(step.coursedir.root), f"nbgrader {name} {step.coursedir.assignment_id}"
    with contextlib.ExitStack() as stack:
        step.log.addFilter(_in_plain)
        stack.callback(step.log.removeFilter, _in_plain)
        if not lock.mine(root):
            told = lock.held(root, command, told=lambda who: step.log.warning("waiting: %s has the course", who))
            stack.enter_context(told)
            if steps is _generating:
                stack.enter_context(all_or_nothing(root, step.coursedir.assignment_id))
        stack.enter_context(steps(step))
        if "init_notebooks" not in vars(type(step)):  # by `Course`, for one student
            step.init_notebooks = functools.partial(_find_notebooks, step, step.init_notebooks)
        yield


def _in_plain(record: logging.LogRecord) -> bool:
    """Let nbgrader's own words through, without what a folder's name would have a terminal do."""
    record.msg, record.args = plain(record.getMessage(), keep="\n\t"), ()
    return True


def _find_notebooks(step: BaseConverter, theirs: Callable[[], None]) -> None:
    """As nbgrader does, to whom `[ab]` is a pattern where it is a student too: what lies in one folder is one student's."""
    asked = step._format_source(step.coursedir.assignment_id, step.coursedir.student_id)
    one = step.coursedir.student_id != "*" and os.path.isdir(asked)
    folders = [asked] if one else sorted(glob.glob(asked))
    found = {folder: glob.glob(os.path.join(glob.escape(folder), "*.ipynb")) for folder in folders}
    step.notebooks, step.assignments = [], {folder: notebooks for folder, notebooks in found.items() if notebooks}
    if not step.assignments:
        theirs()  # says what it looked for


@contextlib.contextmanager
def _generating(step: BaseConverter) -> Iterator[None]:
    step.preprocessors = GENERATE
    # nbgrader copies every other file of source/ to students: here a text of the solution, paired with the notebook.
    step.coursedir.ignore = [*step.coursedir.ignore, "*.md"]
    yield


@contextlib.contextmanager
def _autograding(step: BaseConverter) -> Iterator[None]:
    # The cells' metadata are the release's then, and were checked when it was made.
    step.sanitize_preprocessors = [f"{OURS}RestoreCells"]
    step.autograde_preprocessors = [f"{OURS}SaveVerdicts", f"{THEIRS}AssignLatePenalties"]
    directory, before = step.coursedir, step.coursedir.submitted_directory
    # What students get beside the notebook, packages too: nbgrader would copy it for each of them, and again into feedback/.
    source = pathlib.Path(directory.format_path(directory.source_directory, ".", directory.assignment_id))
    beside = [str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()]
    step.exclude_overwriting = {directory.assignment_id: beside}
    if before.startswith(STAGED):  # by `Course.autograde`
        _keep_marks(step, [directory.student_id])
        yield
        return
    root = pathlib.Path(directory.root)
    with staging(root) as place:
        _stage_all(step, root, place)
        last = {path.name: _last(step, path.name) for path in place.iterdir()}
        _keep_marks(step, last)
        directory.submitted_directory = place.name
        try:
            yield
        finally:
            directory.submitted_directory = before
            _tell(step, root, last)


def _stage_all(step: BaseConverter, root: pathlib.Path, place: pathlib.Path) -> None:
    assignment = step.coursedir.assignment_id
    asked = step.coursedir.student_id
    exact = root / "submitted" / asked / assignment
    for folder in [exact] if asked != "*" and exact.is_dir() else sorted(root.glob(f"submitted/{asked}/{assignment}")):
        student = folder.parent.name
        if "\n" in student:  # at which nbgrader would stop, and leave out all who come after
            step.log.error(
                "%s of %s is not graded: nbgrader does not accept a name of several lines", assignment, plain(student)
            )
            continue
        try:
            stage(root, assignment, student, place / student / assignment)
        except Unreadable as error:
            step.log.error("%s of %s is not graded: %s", assignment, plain(student), error)
            with Gradebook(step.coursedir.db_url, step.coursedir.course_id) as gradebook:
                gradebook.update_or_create_student(student)


def _keep_marks(step: BaseConverter, students: Iterable[str]) -> None:
    """Tell `SaveVerdicts` what was marked before: nbgrader removes the copies that say so."""
    found = {student: marked_in(_autograded(step, student)) for student in students}
    step.update_config(Config({"SaveVerdicts": {"before": json.dumps(found)}}))


def _last(step: BaseConverter, student: str) -> str:
    """The key of the verdict that nbgrader was last given."""
    return verdict_of(_autograded(step, student))


def _autograded(step: BaseConverter, student: str) -> pathlib.Path:
    directory, assignment = step.coursedir, step.coursedir.assignment_id
    return pathlib.Path(directory.format_path(directory.autograded_directory, student, assignment), f"{assignment}.ipynb")


def _tell(step: BaseConverter, root: pathlib.Path, last: Mapping[str, str]) -> None:
    """Tell and keep which scores are others than before, as `grade` does."""
    assignment, store = step.coursedir.assignment_id, Store(root)
    pairs = {student: (store.get(before), store.get(_last(step, student))) for student, before in last.items()}
    keys = Roster(root).enter(assignment, dict.fromkeys(last, ""))
    heard = [one for who, (old, new) in pairs.items() if old and new for one in changes.changes(keys[who], who, old, new)]
    for line in report.changed(heard, names=True):
        step.log.warning(line)
    changes.keep(root, assignment, heard, dependence.versions())


@contextlib.contextmanager
def _telling(step: BaseConverter) -> Iterator[None]:
    step.exporter_class = pages.Page
    yield


@contextlib.contextmanager
def _untouched(step: BaseConverter) -> Iterator[None]:
    # `pages.configure` is for Formgrader's pages too, which has no assignment of its own to ask about.
    if isinstance(step, GenerateFeedback) and step.config.HTMLExporter.pop("filters", None) is not None:
        step.update_config(Config({"HTMLExporter": {"extra_template_basedirs": [TEMPLATES]}}))
    yield
