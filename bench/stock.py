"""The same class in a course of stock nbgrader: default configuration, assertions in grade cells, a kernel a submission."""

from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from shardlab_course.editions import edition
from shardlab_grader.releases.release import Release

CONFIG = "c = get_config()\nc.Execute.timeout = 600\n"
CHECKS = pathlib.Path(__file__).with_name("assertions.py")
Seconds = tuple[float, float]
"""Wall and CPU time."""


def course(made: Release, folder: pathlib.Path, students: Sequence[str]) -> pathlib.Path:
    """A course directory with the release's assignment and these students' submissions."""
    source = folder / "source" / made.assignment
    source.mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(CONFIG)
    shutil.copy(CHECKS, source / "checks.py")
    (source / f"{made.assignment}.ipynb").write_text(edition.to_ipynb(_asserting(made.notebook, made)))
    nbgrader(folder, "generate_assignment", made.assignment)
    for student in students:
        inside = pathlib.Path("submitted", student, made.assignment, f"{made.assignment}.ipynb")
        (folder / inside).parent.mkdir(parents=True)
        handed = nbformat.read(made.course_dir / inside, as_version=4)
        (folder / inside).write_text(edition.to_ipynb(_asserting(handed, made)))
    return folder


def autograde(folder: pathlib.Path, assignment: str, students: Sequence[str], at_once: int = 1) -> Seconds:
    """Grade these students in as many commands at once, each with its share of them."""
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    shares = [students[i::at_once] for i in range(at_once)]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for share in [pool.submit(_share, folder, assignment, share) for share in shares]:
            share.result()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_up(folder: pathlib.Path) -> Seconds:
    """What the command costs before its first submission."""
    return autograde(folder, "none", ["nobody"])


def passed(folder: pathlib.Path, assignment: str, student: str) -> list[str]:
    """The grade cells with full points."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission(assignment, student).notebooks[0].grades
        return sorted(grade.name for grade in grades if grade.score == grade.max_score)


def nbgrader(folder: pathlib.Path, *arguments: str) -> None:
    """Run an nbgrader command in a course; failing submissions are none of its failures."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    environment = os.environ | {"PATH": path, "JAX_PLATFORMS": "cpu", "JUPYTER_PLATFORM_DIRS": "1"}
    quiet = subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=folder, env=environment, capture_output=True)
    with contextlib.suppress(ValueError):
        (folder / "nbgrader.log").write_bytes(quiet.stderr)


def _share(folder: pathlib.Path, assignment: str, students: Sequence[str]) -> None:
    pattern = students[0] if len(students) == 1 else f"[{''.join(student[0] for student in students)}]*"
    nbgrader(folder, "autograde", assignment, "--force", f"--student={pattern}")


def _asserting(notebook: NotebookNode, made: Release) -> NotebookNode:
    changed = copy.deepcopy(notebook)
    for cell in changed.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("grade"):
            question = mark.grade_id.removeprefix("q").replace("-", ".")
            cell.source = f"import checks\nchecks.check({question!r}, globals(), {made.seed}, {str(made.references)!r})"
    return changed
