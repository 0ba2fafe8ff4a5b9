"""A notebook's run: its cells in a sandbox with the student package, and what it left behind, read at the border."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from shardlab_grader.border import artifact
from shardlab_grader.border.artifact import Recording
from shardlab_grader.sandbox import compiled
from shardlab_grader.sandbox.box import (
    ONE_THREAD,
    Limits,
    MiB,
    Mode,
    Mount,
    Outcome,
    Road,
    Sandbox,
    cold,
    interpreter,
)
from shardlab_grader.sandbox.student_package import PACKAGES, installed, student_package

Manifest = Mapping[str, Any]
SCRIPT = "/grader/runner.py"
INSIDE = pathlib.Path(__file__).parents[1] / "inside"
OURS = (*PACKAGES, "shardlab_grader", "shardlab_authoring")
RUN = ("runner.py", "shown.py")


@dataclasses.dataclass(frozen=True)
class Cell:
    """A code cell. With a question it is a grade cell: its source is not run, the answer is recorded there.

    `reads` has the names that a given cell reads, and `shows` those that it binds when it only shows something: see
    `shardlab_grader.inside.shown`. A student's own cell has neither.
    """

    source: str
    question: str | None = None
    reads: tuple[str, ...] | None = None
    shows: tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a class is graded.

    Args:
        cache: a directory of the grader's, where the student package is kept.
        notebook: limits of the run of one notebook.
        judge: limits of the judge of one notebook.
        cell_seconds: what one cell, or recording one item, may take.
        question_seconds: what judging one question may take.
        packages: the directory that holds `shardlab`, the judge and the course; where they are installed unless given.
    """

    cache: pathlib.Path
    mode: Mode = "bubblewrap"
    notebook: Limits = Limits()
    judge: Limits = Limits(wall=900.0, cpu=900)
    cell_seconds: float = 60.0
    question_seconds: float = 60.0
    packages: pathlib.Path | None = None

    @property
    def site(self) -> pathlib.Path:
        """The directory that holds what is trusted."""
        return self.packages or installed()


def record(
    cells: list[Cell],
    manifests: Mapping[str, Manifest],
    settings: Settings,
    road: Road = cold,
    sandbox: Sandbox | None = None,
) -> tuple[Outcome, Recording | None]:
    """How the run of a notebook ended, and what it recorded: `None` when its output file is not an ordinary file.

    Args:
        cells, manifests: as for `grade_notebook`.
        road: how the run is started.
        sandbox: `student_sandbox(settings)`, when there is one already.
    Raises:
        ShardlabError, OSError: the sandbox could not be made.
    """
    return _record(cells, manifests, settings, sandbox or student_sandbox(settings), road)


def run(settings: Settings) -> tuple[str, Sandbox]:
    """The script that runs notebooks, and the sandbox in which it does."""
    return SCRIPT, student_sandbox(settings)


def record_ours(
    cells: list[Cell], manifests: Mapping[str, Manifest], settings: Settings
) -> tuple[Outcome, Recording | None]:
    """`record` for a notebook of ours, a solution: what it compiles is kept for the students' runs."""
    with compiled.filling(settings.cache) as mount:
        sandbox = student_sandbox(settings)
        mounts = (*(m for m in sandbox.mounts if m.target != mount.target), mount)
        environment = tuple((dict(sandbox.environment) | compiled.FILLING).items())
        sandbox = dataclasses.replace(sandbox, mounts=mounts, environment=environment)
        return _record(cells, manifests, settings, sandbox, cold)


def _record(
    cells: list[Cell], manifests: Mapping[str, Manifest], settings: Settings, sandbox: Sandbox, road: Road
) -> tuple[Outcome, Recording | None]:
    job = {
        "cells": [dataclasses.asdict(cell) for cell in cells],
        "manifests": manifests,
        "cell_seconds": settings.cell_seconds,
        "answer_bytes": artifact.LINE - MiB,
    }
    with tempfile.TemporaryDirectory() as directory:
        box = pathlib.Path(directory)
        outcome = road(SCRIPT, sandbox, box, json.dumps(job).encode())
        try:
            return outcome, artifact.read(box / "output", manifests, len(cells))
        except artifact.Refused:
            return outcome, None


def student_sandbox(settings: Settings) -> Sandbox:
    """The sandbox of student code: this Python, the student package and the runner."""
    package = student_package(settings.cache, settings.site)
    mounts = [*interpreter(), Mount(package, "/student")]
    mounts += [Mount(INSIDE / name, f"/grader/{name}") for name in RUN]
    mounts += [Mount(package / "nothing", str(hidden)) for hidden in _beside(settings.site)]
    environment = {"PYTHONPATH": "/student", **ONE_THREAD}
    if (kept := compiled.folder(settings.cache)).is_dir():
        mounts.append(Mount(kept, compiled.INSIDE))
        environment |= compiled.READING
    return Sandbox(settings.mode, settings.notebook, tuple(mounts), tuple(environment.items()))


def _beside(site: pathlib.Path) -> list[pathlib.Path]:
    """Packages of ours inside the environment that is mounted: nothing is to be found there but what `/student` has."""
    homes = [home for home in {site, installed()} if any(home.is_relative_to(mount.target) for mount in interpreter())]
    return sorted(home / name for home in homes for name in OURS if (home / name).is_dir())
