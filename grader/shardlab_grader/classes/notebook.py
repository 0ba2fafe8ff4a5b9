"""A notebook's cells, how they are to be graded, and their run in a sandbox with the student package."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from shardlab_grader.border import artifact
from shardlab_grader.inside.cells import label
from shardlab_grader.sandbox import compiled
from shardlab_grader.sandbox.box import ONE_THREAD, Limits, MiB, Mode, Mount, Outcome, RunScript, Sandbox, cold, interpreter
from shardlab_grader.sandbox.student_package import PACKAGES, STUDENT, home, installed, student_package
from shardlab_judge.items import kind

Manifest = Mapping[str, Any]
SCRIPT = "/grader/runner.py"
INSIDE = pathlib.Path(__file__).parents[1] / "inside"
OURS = (*PACKAGES, "shardlab_grader", "shardlab_authoring")
RUN = ("runner.py", "cells.py", "shown.py")
AGAIN = 3
"""How often a run goes on without the cell that ended it."""
LEAST = 5.0
"""Seconds that must be left for that."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """A code cell. With a question it is a grade cell: its source is not run, the answer is taken there.

    `reads` has the names that a given cell reads, and `shows` those that it binds when it only shows something: see
    `shardlab_grader.inside.shown`. A student's own cell has neither.
    """

    source: str
    question: str | None = None
    reads: tuple[str, ...] | None = None
    shows: tuple[str, ...] | None = None

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"the check of {self.question}" if self.question else label(self.source)


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a class is graded.

    Args:
        cache: a directory of the grader's, where the student package is kept.
        notebook: limits of the run of one notebook.
        judge: limits of the judge of one notebook.
        cell_seconds: what one cell, or taking one item's answer, may take of wall time.
        cell_cpu_seconds: the same of CPU time, in all threads: it ends an endless loop, and no cell that only waits. The
            slowest cell of a solution takes a third of it (`bench/cells.py`).
        question_seconds: what judging one question may take of CPU time, in all threads.
        question_wall_seconds: the same of wall time: it ends a judge that only waits.
        packages: the directory that holds `shardlab`, the judge and the course; where they are installed unless given.
        references: file of the reference programs for this seed; the packaged one when `None`.
        seed: the release's seed; `None` for the public cases only.
        chapter: the folder of an instructor's own chapter, for the judge alone.
        points: by question its points in the release; those in its declaration where it is not here.
    """

    cache: pathlib.Path
    mode: Mode = "bubblewrap"
    notebook: Limits = Limits()
    judge: Limits = Limits(wall=900.0, cpu=900)
    cell_seconds: float = 60.0
    cell_cpu_seconds: float = 15.0
    question_seconds: float = 60.0
    question_wall_seconds: float = 180.0
    packages: pathlib.Path | None = None
    references: pathlib.Path | None = None
    seed: int | None = None
    chapter: pathlib.Path | None = None
    points: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def site(self) -> pathlib.Path:
        """The directory that holds what is trusted."""
        return self.packages or installed()

    @functools.cached_property
    def sandbox(self) -> Sandbox:
        """The sandbox of the notebooks' code; what it is made of is looked at once for a class."""
        return student_sandbox(self)


@dataclasses.dataclass(frozen=True)
class Job:
    """A notebook to be graded, under a key of the caller's: all its code cells in order, and what they are asked.

    `manifests` has `Question.manifest(seed)` by question id, `form` a hash of what was handed in, and `basis` one of all
    that its verdicts depend on but the points of the questions.
    """

    key: str
    cells: tuple[Cell, ...]
    manifests: Mapping[str, Manifest]
    settings: Settings
    form: str = ""
    basis: str = ""


def told(job: Job) -> Job:
    """The job as the notebook's process is told of it."""
    manifests = {q: {**m, "items": [kind(item["kind"]).told(item) for item in m["items"]]} for q, m in job.manifests.items()}
    return dataclasses.replace(job, manifests=manifests)


def launching(job: Job, answers: Mapping[str, Any]) -> Job:
    """A job without cells: functions that left the notebook's sandbox as text, to be launched in another one."""
    found = {
        question: [
            {**item, "sent": entry["sent"]}
            for item in job.manifests[question]["items"]
            if "sent" in (entry := answer["items"][item["name"]])
        ]
        for question, answer in answers.items()
    }
    manifests = {question: {**job.manifests[question], "items": items} for question, items in found.items() if items}
    return dataclasses.replace(job, cells=(), manifests=manifests)


def run(job: Job, run_script: RunScript = cold) -> tuple[Outcome, bytes | None]:
    """How the run of a notebook ended, and what it wrote, to be read as hostile: `None` if that is not an ordinary file.

    Where a cell ends the process, it goes on in a new one without this cell, up to `AGAIN` times inside the notebook's time:
    exercises are worth their points one by one.

    Raises:
        ShardlabError, OSError: the sandbox could not be made.
    """
    sandbox, asked = job.settings.sandbox, job
    outcome, output = _run(job, sandbox, run_script)
    reached, seconds, doubts = _died_at(job, outcome, output), outcome.seconds, _doubts(job, outcome, output)
    for _ in range(AGAIN):
        left = sandbox.limits.wall - seconds
        if reached is None or left < LEAST:
            break
        job = _without(job, reached, outcome.ending)
        limits = dataclasses.replace(sandbox.limits, wall=left)
        later, found = _run(job, dataclasses.replace(sandbox, limits=limits), run_script)
        doubts += _doubts(job, later, found)
        before, reached, seconds = reached, _died_at(job, later, found), seconds + later.seconds
        if _got(asked, found) >= _got(asked, output):
            outcome, output = later, found
        if reached == before:  # it is not this cell that ends it
            break
    return dataclasses.replace(outcome, seconds=seconds, doubts=doubts), output


def _doubts(job: Job, outcome: Outcome, output: bytes | None) -> tuple[str, ...]:
    """What ended a run before its end, where that need not be its own doing."""
    ended = output is not None and artifact.read(output, job.manifests, len(job.cells)).ended
    return () if ended or not outcome.doubtful else (outcome.ending,)


def _got(job: Job, output: bytes | None) -> tuple[bool, int]:
    """Whether a run came to its end, and how many questions it has answers to."""
    recording = artifact.read(output or b"", job.manifests, len(job.cells))
    return recording.ended, len(recording.answers)


def _died_at(job: Job, outcome: Outcome, output: bytes | None) -> int | None:
    """The cell that ended the process, by what it wrote; `None` if none did, or none that can be told."""
    if output is None or outcome.stopped == "interrupt":
        return None
    recording = artifact.read(output, job.manifests, len(job.cells))
    return None if recording.ended else recording.cell


def _without(job: Job, number: int, ending: str) -> Job:
    """The job with a cell that only says that it ended the run; of a grade cell its question is not asked."""
    question = job.cells[number].question
    what = "this cell" if question is None else "taking this answer"
    said = Cell(f"raise RuntimeError({f'{what} ended the run ({ending}); what follows ran without it'!r})")
    cells, asked = (*job.cells[:number], said, *job.cells[number + 1 :]), {**job.manifests}
    asked.pop(question or "", None)
    return dataclasses.replace(job, cells=cells, manifests=asked)


def run_ours(job: Job) -> tuple[Outcome, bytes | None]:
    """`run` for a notebook of ours, a solution: what it compiles is kept for the students' runs."""
    with compiled.filling(job.settings.cache) as mount:
        sandbox = student_sandbox(job.settings)
        mounts = (*(m for m in sandbox.mounts if m.target != mount.target), mount)
        environment = tuple((dict(sandbox.environment) | compiled.FILLING).items())
        return _run(job, dataclasses.replace(sandbox, mounts=mounts, environment=environment), cold)


def _run(job: Job, sandbox: Sandbox, run_script: RunScript) -> tuple[Outcome, bytes | None]:
    asked = {
        "cells": [dataclasses.asdict(cell) for cell in job.cells],
        "manifests": job.manifests,
        "cell_seconds": job.settings.cell_seconds,
        "cell_cpu_seconds": job.settings.cell_cpu_seconds,
        "answer_bytes": artifact.LINE - MiB,
    }
    with tempfile.TemporaryDirectory() as directory:
        box = pathlib.Path(directory)
        outcome = run_script(SCRIPT, sandbox, box, json.dumps(asked).encode())
        try:
            return outcome, artifact.content(box / "output")
        except artifact.Refused:
            return outcome, None


def student_sandbox(settings: Settings) -> Sandbox:
    """The sandbox of student code: this Python, the student package and the runner."""
    package = student_package(settings.cache, settings.site)
    mounts = [*interpreter(), Mount(package, "/student")]
    mounts += [Mount(INSIDE / name, f"/grader/{name}") for name in RUN]
    mounts += [Mount(package / "nothing", str(hidden)) for hidden in _beside(settings.site)]
    environment = {"PYTHONPATH": "/student", **ONE_THREAD, **compiled.QUICK}
    if (kept := compiled.folder(settings.cache)).is_dir():
        mounts.append(Mount(kept, compiled.INSIDE))
        environment |= compiled.READING
    return Sandbox(settings.mode, settings.notebook, tuple(mounts), tuple(environment.items()))


def _beside(site: pathlib.Path) -> list[pathlib.Path]:
    """Packages of ours inside the environment that is mounted: nothing is to be found there but what `/student` has."""
    places = {site, installed(), *(home(package, site).parent for package in STUDENT)}
    seen = ["/usr", *(mount.target for mount in interpreter())]
    mounted = [place for place in places if any(map(place.is_relative_to, seen))]
    return sorted(place / name for place in mounted for name in OURS if (place / name).is_dir())
