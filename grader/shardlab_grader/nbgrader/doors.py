"""nbgrader's commands and Formgrader's buttons: a release of ours walks the road of `shardlab-grader`, all else nbgrader's.

nbgrader copies what lies in `submitted/`, links and all, before its configuration can have a say, and removes what it had
made. So each converter asks first whose assignment it is given; one that is not ours gets nbgrader's own steps untouched.
"""

from __future__ import annotations

import contextlib
import fnmatch
import pathlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.server_extensions import formgrader
from traitlets.config import Config

from shardlab_grader.nbgrader import pages
from shardlab_grader.nbgrader.course import STAGED, staging
from shardlab_grader.records import lock, sharing
from shardlab_grader.records.submissions import Unreadable, stage
from shardlab_grader.releases import places

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
    for converter, steps in ((GenerateAssignment, _generating), (Autograde, _autograding), (GenerateFeedback, _telling)):
        if converter.start.__module__ != __name__:
            converter.start = _asking(converter.start, steps)


def _asking(theirs: Callable[[BaseConverter], None], steps: Steps) -> Callable[[BaseConverter], None]:
    def start(self: BaseConverter) -> None:
        asked = self.coursedir.assignment_id
        met = fnmatch.filter(places.releases(pathlib.Path(self.coursedir.root)), asked)
        if met and met != [asked]:
            # nbgrader's own step would run what is ours, and students' code with it, outside of any sandbox.
            self.log.error("%s is more than one assignment, %s among them: name one at a time", asked, met[0])
            raise NbGraderException(f"name one assignment instead of {asked}")
        if met and sharing.shared(pathlib.Path(self.coursedir.root)):
            self.coursedir.groupshared = True
        with steps(self) if met else _untouched(self):
            theirs(self)

    return start


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
    if before.startswith(STAGED):  # by `Course.autograde`
        yield
        return
    root, command = pathlib.Path(directory.root), f"nbgrader autograde {directory.assignment_id}"
    with (
        lock.held(root, command, told=lambda who: step.log.warning("waiting: %s has the course", who)),
        staging(root) as place,
    ):
        _stage_all(step, root, place)
        directory.submitted_directory = place.name
        try:
            yield
        finally:
            directory.submitted_directory = before


def _stage_all(step: BaseConverter, root: pathlib.Path, place: pathlib.Path) -> None:
    assignment = step.coursedir.assignment_id
    for folder in sorted(root.glob(f"submitted/{step.coursedir.student_id}/{assignment}")):
        student = folder.parent.name
        try:
            stage(root, assignment, student, place / student / assignment)
        except Unreadable as error:
            step.log.error("%s of %s is not graded: %s", assignment, student, error)
            with Gradebook(step.coursedir.db_url, step.coursedir.course_id) as gradebook:
                gradebook.update_or_create_student(student)


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
