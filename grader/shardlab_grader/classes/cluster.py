"""Grading on a Dask cluster: a job is a submission's bytes and the release, and what comes back is its record.

A worker runs the same sandbox as one machine does. Whatever a lost worker had under way runs again on another one; the
store, the keys and the gradebook stay on the machine that asked.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pathlib
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from shardlab.errors import ShardlabError
from shardlab_course import dependence, own
from shardlab_grader.classes import jobs, stages
from shardlab_grader.classes.stages import Grading
from shardlab_grader.classes.streams import flow
from shardlab_grader.records.store import Record
from shardlab_grader.releases.release import Release
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox import compiled
from shardlab_grader.sandbox.box import Mode

if TYPE_CHECKING:
    from distributed import Client

CONNECT = 30.0
"""Seconds until a scheduler must answer, and a first worker must be there."""
CHAPTERS = ("shardlab/chapters", "shardlab/questions")
"""Where a release has the questions of an instructor's own chapter, and where those of one that has changed since."""
AHEAD = 2
"""Submissions under way for each thread of the cluster, so that none waits for the next one."""
Packed = dict[str, bytes]
"""A release's files by their path in a course directory."""
UNPACKING = threading.Lock()


def grade_all(grading: Grading, contents: Iterable[tuple[str, bytes]], address: str) -> Iterator[tuple[str, Record]]:
    """Grade handed-in forms by key on the cluster at this address, and keep each record here as soon as it is there.

    Args:
        contents: taken as they are needed.
    Raises:
        ShardlabError: there is no cluster, or one of its workers cannot grade as this machine does.
    """
    with _connected(address) as client:
        ready(client, grading)
        # A task, not scattered data: when the worker that holds it is lost, the scheduler makes it again.
        packed = client.submit(_same, pack(grading.release), pure=False)
        pool = client.get_executor(pure=False)
        work = functools.partial(pool.submit, _work, packed=packed, release=grading.release.assignment, mode=grading.mode)
        most = AHEAD * sum(client.nthreads().values())
        try:
            for (name, _), done in flow(lambda one: work(one[1]), contents, most):
                yield name, stages.recorded(grading, name, _collected(done, grading))
        finally:
            pool.shutdown(wait=False)


def ready(client: Client, grading: Grading) -> None:
    """Check that every worker has this machine's versions and questions, and a sandbox.

    Raises:
        ShardlabError: one of them has not; the first of them is named.
    """
    questions, judgement = tuple(grading.release.manifests), grading.release.judgement
    chapter = {name: content for name, content in pack(grading.release).items() if name.startswith(CHAPTERS)}
    said = client.run(_ready, grading.mode, questions, judgement, chapter, on_error="return")
    for worker, answer in sorted(said.items()):
        if answer is not None:
            mend = "install bubblewrap, the same Python, shardlab[cluster,grader] and constraints.txt on each."
            raise ShardlabError("worker-differs", f"{answer}", where=f"worker {worker}", mend=mend)


def pack(release: Release) -> Packed:
    """All that a worker needs of a release, also what its solution has compiled."""
    folder = release.course_dir
    kept = compiled.folder(folder / "shardlab" / "cache")
    named = [folder / "shardlab" / f"{release.assignment}.json", release.references]
    if chapter := release.settings("bubblewrap").chapter:
        named += [folder / path.relative_to(folder.resolve()) for path in own.files(chapter)]
    named += [folder / "release" / release.assignment / f"{release.assignment}.ipynb", *sorted(kept.glob("*"))]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in named}


def _same(packed: Packed) -> Packed:
    return packed


def _work(content: bytes, packed: Packed, release: str, mode: Mode) -> dict[str, Any]:
    """On a worker: a submission's record, as JSON."""
    return jobs.graded(Grading(Release.load(_unpacked(packed), release), mode), "", content).to_json()


def _unpacked(packed: Packed) -> pathlib.Path:
    """A course directory of the worker's own; one for each release, for as long as the worker lives."""
    digest = hashlib.sha256(repr(sorted(packed.items())).encode()).hexdigest()
    with UNPACKING:
        folder = pathlib.Path(_folder().name) / digest
        if not folder.exists():
            _write(packed, folder)
    return folder


def _write(packed: Packed, folder: pathlib.Path) -> None:
    for name, content in packed.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    from distributed import get_worker

    return tempfile.TemporaryDirectory(dir=get_worker().local_directory)


def _ready(mode: Mode, questions: tuple[str, ...], judgement: str, chapter: Packed) -> str | None:
    """On a worker: why it cannot grade, if it cannot."""
    try:
        sandbox.probe(mode)
    except ShardlabError as error:
        return str(error)
    with tempfile.TemporaryDirectory() as folder:
        _write(chapter, pathlib.Path(folder))
        for place in (place for chapters in CHAPTERS for place in pathlib.Path(folder, chapters).glob("*")):
            own.take_released(place)
        same = dependence.judgement(questions) == judgement
    return None if same else f"its shardlab or JAX is a different version ({dependence.versions()})."


def _collected(done: Future[dict[str, Any]], grading: Grading) -> Record:
    try:
        return Record.from_json(done.result())
    except Exception as error:  # the cluster's, for instance when every worker that took the job has died
        reason = f"The grader failed: {type(error).__name__}: {error}"
        return Record(stages.ungraded(grading.release.manifests, reason), grading.mode)


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError:
        mend = "pip install -c constraints.txt -e ./lens -e '.[cluster,grader]', here and on every worker"
        raise ShardlabError("no-cluster-package", "Dask's distributed is not installed.", where=address, mend=mend) from None
    mend = "start one: dask scheduler; and on each machine, with the same shardlab installed: dask worker ADDRESS"
    try:
        client = Client(address, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise ShardlabError("no-scheduler", f"no scheduler answers ({error}).", where=address, mend=mend) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT)
        except TimeoutError:
            raise ShardlabError("no-workers", "the scheduler has no workers.", where=address, mend=mend) from None
        yield client
