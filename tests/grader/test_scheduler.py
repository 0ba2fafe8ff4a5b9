"""A class on a real Dask cluster of this machine: a scheduler and two workers, one of which is killed in the middle."""

from __future__ import annotations

import contextlib
import copy
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from nbgrader.api import Gradebook

from shardlab.errors import ShardlabError
from shardlab_course.editions import edition
from shardlab_grader.classes import classroom, cluster
from shardlab_grader.classes.stages import Grading
from shardlab_grader.records.store import Record, Store, key
from shardlab_grader.records.submissions import submissions
from shardlab_grader.releases.release import Release, release
from variants import of

ROOT = pathlib.Path(__file__).parents[2]
CHAPTER = "01"
STUDENTS = [f"student-{n}" for n in range(6)]
DASK = [str(pathlib.Path(sys.executable).with_name("dask"))]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A released chapter with six different submissions, not graded yet."""
    made = release(CHAPTER, tmp_path_factory.mktemp("released") / "course", ROOT)
    for n, student in enumerate(STUDENTS):
        notebook = copy.deepcopy(made.notebook)
        for question in made.manifests:
            names = sorted(of(question))
            name = f"q{question.replace('.', '-')}-answer"
            first = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)
            first.source = of(question)[names[n % len(names)]].source()
        path = made.course_dir / "submitted" / student / made.assignment / f"{made.assignment}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(edition.to_ipynb(notebook))
    return made


class Cluster:
    """A scheduler and two workers with one thread each, started as the guide says."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder, self._children = folder, contextlib.ExitStack()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.workers = [self._worker(n) for n in range(2)]

    def _worker(self, n: int) -> subprocess.Popen[bytes]:
        own = self._folder / f"worker-{n}"
        own.mkdir()
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(own)]
        return self._start("worker", self.address, *options)

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        log = self._children.enter_context((self._folder / "log").open("ab"))
        child = subprocess.Popen([*DASK, *words], stdout=log, stderr=log)
        self._children.callback(child.wait)
        self._children.callback(child.kill)
        return child

    @property
    def log(self) -> str:
        """What scheduler and workers said."""
        return (self._folder / "log").read_text()

    def close(self) -> None:
        """End all three."""
        self._children.close()


@pytest.fixture
def started(tmp_path: pathlib.Path) -> Iterator[Cluster]:
    """The cluster of this test."""
    running = Cluster(tmp_path)
    yield running
    running.close()


def graded(made: Release, folder: pathlib.Path, **how: Any) -> tuple[Release, list[Any]]:
    """A copy of the course, graded; its rows without their random keys."""
    shutil.copytree(made.course_dir, folder)
    rows = classroom.grade(folder, made.assignment, "bubblewrap", 2, silent, **how)
    return Release.load(folder, made.assignment), [(r.student, r.status, r.points, r.total, r.reason) for r in rows]


@contextlib.contextmanager
def silent(step: str, length: int) -> Iterator[Callable[[], None]]:
    """No progress bar."""
    yield lambda: None


def gradebook(made: Release) -> list[tuple[Any, ...]]:
    """Every grade of every student."""
    with Gradebook(f"sqlite:///{made.course_dir}/gradebook.db") as book:
        found = [(s.student_id, g.name, g.auto_score, g.needs_manual_grade)
                 for s in book.assignment_submissions(made.assignment) for n in s.notebooks for g in n.grades]  # fmt: skip
    return sorted(found)


def verdicts(made: Release, student: str) -> tuple[Any, ...]:
    """What the store has on a student's submission, but for the times."""
    (handed,) = submissions(made.course_dir, made.assignment, student)
    found = Store(made.course_dir).get(key(handed.content, made.fingerprint))
    assert found is not None
    return found.verdicts, found.sandbox, found.errors, found.programs


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
@pytest.mark.filterwarnings("default")  # Dask's own, of its threads and sockets
def test_a_lost_worker_changes_nothing(made: Release, started: Cluster, tmp_path: pathlib.Path) -> None:
    """With one of two workers killed after the first verdict, the gradebook is the one that this machine makes alone."""
    heard: list[str] = []

    def told(student: str, own_key: str, record: Record) -> None:
        heard.append(student)
        if len(heard) == 1:
            os.kill(started.workers[0].pid, signal.SIGKILL)

    there, far = graded(made, tmp_path / "cluster", told=told, scheduler=started.address)
    here, near = graded(made, tmp_path / "alone")
    assert started.workers[0].wait(10) == -signal.SIGKILL
    assert sorted(heard) == STUDENTS
    assert far == near
    assert gradebook(there) == gradebook(here)
    assert [verdicts(there, student) for student in STUDENTS] == [verdicts(here, student) for student in STUDENTS]
    assert not any(student in started.log for student in STUDENTS)


@pytest.mark.thorough
def test_no_scheduler_is_one_sentence(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nobody answers is a mistake with a message; nothing is graded here in its place."""
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    with pytest.raises(ShardlabError, match="no-scheduler"):
        list(cluster.grade_all(Grading(made), (), "tcp://127.0.0.1:9"))


def test_a_worker_with_other_versions_is_refused(made: Release) -> None:
    """A worker that would judge by other questions or another JAX is named, and none of its verdicts is taken."""

    class Other:
        def run(
            self, function: Callable[..., Any], mode: str, ids: Any, mine: str, own: Any, on_error: str
        ) -> dict[str, Any]:
            return {"tcp://a:1": function(mode, ids, mine, own), "tcp://b:2": function(mode, ids, "another", own)}

    with pytest.raises(ShardlabError, match=r"(?s)\[worker-differs\] its shardlab or JAX.*worker tcp://b:2"):
        cluster.ready(Other(), Grading(made, "none"))
    assert cluster._ready("none", tuple(made.manifests), made.judgement, {}) is None


def test_what_travels_is_the_release_without_names(made: Release) -> None:
    """A worker gets the seed, the references and the notebook of the release; no gradebook, no keys, no submission."""
    packed = cluster.pack(made)
    names = {name for name in packed if not name.startswith("shardlab/cache/compiled-")}
    assert names == {
        f"shardlab/{made.assignment}.json",
        f"shardlab/{made.assignment}.references.json",
        f"release/{made.assignment}/{made.assignment}.ipynb",
    }
    assert not any(student.encode() in content for content in packed.values() for student in STUDENTS)
