"""Our side of `bench/grading.py`: a class graded in a Python of its own, stage by stage.

    python bench/ours.py COURSE ASSIGNMENT

prints JSON: `wall` and `cpu` seconds, `stages`, and `run_cpu`, the CPU time of all students' runs. The servers say what
their start took, so that `cpu` holds it too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

STARTED = time.monotonic()
if TYPE_CHECKING:
    from nbformat import NotebookNode

    from shardlab_grader.releases.release import Release


def main(course_dir: str, assignment: str) -> None:
    """Grade what lies in `submitted/`, as the command does but for the feedback pages, and say how long it took."""
    from shardlab_grader.classes import starting
    from shardlab_grader.classes.notebook import SCRIPT, Settings
    from shardlab_grader.releases import places
    from shardlab_grader.sandbox import servers

    used: dict[str, float] = {}

    class Noted(servers.Server):
        def __init__(self, script: str, *rest: Any) -> None:
            super().__init__(script, *rest)
            used[f"start of {script}"] = used.get(f"start of {script}", 0.0) + self.cpu

    class Noting(servers.Servers):
        def run(self, script: str, *rest: Any) -> Any:
            outcome = super().run(script, *rest)
            used[script] = used.get(script, 0.0) + outcome.cpu
            return outcome

    servers.Server, starting.Servers = Noted, Noting  # type: ignore[misc]
    place, workers = pathlib.Path(course_dir), os.cpu_count() or 1
    settings = Settings(places.cache(place), references=places.references(place, assignment))
    warm = starting.starting(settings, workers)

    from shardlab_grader.classes import classroom
    from shardlab_grader.classes import stages as course_stages
    from shardlab_grader.nbgrader.course import Course

    class Timed(Course):
        def autograde(self, assignment: str, student: str, *known: Any) -> str:
            before = time.thread_time()
            error = super().autograde(assignment, student, *known)
            used["nbgrader's own part"] = used.get("nbgrader's own part", 0.0) + time.thread_time() - before
            return error

        def feedback(self, assignment: str, student: str) -> str:
            return ""

    @contextlib.contextmanager
    def progress(step: str, length: int) -> Iterator[Callable[[], None]]:
        stages[f"before {step}"] = _since(stages)
        yield lambda: None
        stages[step] = _since(stages)

    course_stages.Course = Timed  # type: ignore[misc]
    stages = {"imports": time.monotonic() - STARTED}
    with warm:
        rows = classroom.grade(place, assignment, "bubblewrap", workers, progress, servers=warm)
    wall = time.monotonic() - STARTED
    if lost := [row.reason for row in rows if row.status == "ungraded"]:
        raise RuntimeError(lost[0])
    cpu = time.process_time() + sum(seconds for what, seconds in used.items() if "/" in what)
    stages |= {f"CPU of {what}": seconds for what, seconds in used.items()}
    stages |= {"CPU of the grader's own process": time.process_time()}
    print(json.dumps({"wall": wall, "cpu": cpu, "stages": stages, "run_cpu": used.get(SCRIPT, 0.0)}))


def passed(made: Release, student: str) -> list[str]:
    """The grade cells with full points."""
    from shardlab_grader.nbgrader.course import Course

    with Course(made.course_dir).gradebook() as gradebook:
        grades = gradebook.find_submission(made.assignment, student).notebooks[0].grades
        return sorted(grade.name for grade in grades if grade.score == grade.max_score)


def in_a_warm_process(made: Release, student: str) -> float:
    """The CPU time of a submission's cells and answers in a process that has imported everything, without a sandbox."""
    command = [sys.executable, __file__, "--warm", str(made.course_dir), made.assignment, student]
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.split()[-1])


def generous(released: NotebookNode, made: Release) -> dict[str, Any]:
    """The job of a restored notebook, under limits that no cell meets."""
    from shardlab_grader.classes import restore

    cells = [dataclasses.asdict(cell) for cell in restore.job_cells(released)]
    limits = {"cell_seconds": 600, "cell_cpu_seconds": 600, "answer_bytes": 2**22}
    return {"cells": cells, "manifests": made.manifests, **limits}


def warm(course_dir: str, assignment: str, student: str) -> None:
    """Run one submission here, where its author is trusted, and print the CPU time."""
    from shardlab_grader.classes import restore
    from shardlab_grader.inside import runner
    from shardlab_grader.records.forms import parse
    from shardlab_grader.records.submissions import submissions
    from shardlab_grader.releases.release import Release

    made = Release.load(pathlib.Path(course_dir), assignment)
    (one,) = submissions(made.course_dir, assignment, student)
    released = restore.restore(parse(one.content), made.notebook)
    job = generous(released, made)
    runner.warm()
    output, screen = open(os.devnull, "w"), os.dup(1)
    before = time.process_time()
    os.dup2(output.fileno(), 1)
    runner.Runner(job, output).run()
    sys.stdout.flush()
    os.dup2(screen, 1)
    print(time.process_time() - before)
    sys.stdout.flush()
    os._exit(0)


def _since(stages: dict[str, float]) -> float:
    return time.monotonic() - STARTED - sum(stages.values())


if __name__ == "__main__":
    warm(*sys.argv[2:]) if sys.argv[1] == "--warm" else main(*sys.argv[1:])
