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
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from shardlab.errors import ShardlabError
from shardlab_grader.classes import grading
from shardlab_grader.classes.streams import flow
from shardlab_grader.records import dependence
from shardlab_grader.records.store import Record
from shardlab_grader.records.submissions import Unreadable
from shardlab_grader.releases.release import Release
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox import compiled
from shardlab_grader.sandbox.box import Mode
from shardlab_judge.verdict import Verdict

if TYPE_CHECKING:
    from distributed import Client

CONNECT = 30.0
"""Seconds until a scheduler must answer, and a first worker must be there."""
AHEAD = 2
"""Submissions under way for each thread of the cluster, so that none waits for the next one."""
Packed = dict[str, bytes]
"""A release's files by their path in a course directory."""
UNPACKING = threading.Lock()


def grade_all(contents: Mapping[str, bytes], release: Release, mode: Mode, address: str) -> Iterator[tuple[str, Record]]:
    """Grade notebooks by key on the cluster at this address, and keep each record here as soon as it is there.

    Args:
        contents: read as they are needed; one that cannot be read any more is left out.
    Raises:
        ShardlabError: there is no cluster, or one of its workers cannot grade as this machine does.
    """
    keeper = grading.Keeper(release)
    with _connected(address) as client:
        ready(client, mode, release)
        # A task, not scattered data: when the worker that holds it is lost, the scheduler makes it again.
        packed = client.submit(_same, pack(release), pure=False)
        pool = client.get_executor(pure=False)
        work = functools.partial(pool.submit, _work, packed=packed, release=release.assignment, mode=mode)
        most = AHEAD * sum(client.nthreads().values())
        try:
            for (name, _), done in flow(lambda one: work(one[1]), _readable(contents), most):
                yield name, keeper.keep(name, _collected(done, release, mode))
        finally:
            pool.shutdown(wait=False)


def ready(client: Client, mode: Mode, release: Release) -> None:
    """Check that every worker has this machine's versions and questions, and a sandbox.

    Raises:
        ShardlabError: one of them has not; the first of them is named.
    """
    said = client.run(_ready, mode, tuple(release.manifests), release.judgement, on_error="return")
    for worker, answer in sorted(said.items()):
        if answer is not None:
            mend = "install bubblewrap and the same shardlab[cluster,grader], with the same constraints.txt, on each."
            raise ShardlabError("worker-differs", f"{answer}", where=f"worker {worker}", mend=mend)


def pack(release: Release) -> Packed:
    """All that a worker needs of a release, also what its solution has compiled."""
    folder = release.course_dir
    kept = compiled.folder(folder / "shardlab" / "cache")
    named = [folder / "shardlab" / f"{release.assignment}.json", release.references]
    named += [folder / "release" / release.assignment / f"{release.assignment}.ipynb", *sorted(kept.glob("*"))]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in named}


def _same(packed: Packed) -> Packed:
    return packed


def _readable(contents: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name in contents:
        with contextlib.suppress(Unreadable):
            yield name, contents[name]


def _work(content: bytes, packed: Packed, release: str, mode: Mode) -> dict[str, Any]:
    """On a worker: a submission's record, as JSON."""
    return grading.graded(content, Release.load(_unpacked(packed), release), mode).to_json()


def _unpacked(packed: Packed) -> pathlib.Path:
    """A course directory of the worker's own; one for each release, for as long as the worker lives."""
    digest = hashlib.sha256(repr(sorted(packed.items())).encode()).hexdigest()
    with UNPACKING:
        folder = pathlib.Path(_folder().name) / digest
        if not folder.exists():
            for name, content in packed.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    return folder


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    from distributed import get_worker

    return tempfile.TemporaryDirectory(dir=get_worker().local_directory)


def _ready(mode: Mode, questions: tuple[str, ...], judgement: str) -> str | None:
    """On a worker: why it cannot grade, if it cannot."""
    try:
        sandbox.probe(mode)
    except ShardlabError as error:
        return str(error)
    same = dependence.judgement(questions) == judgement
    return None if same else f"its shardlab or JAX is another one ({dependence.versions()})."


def _collected(done: Future[dict[str, Any]], release: Release, mode: Mode) -> Record:
    try:
        return Record.from_json(done.result())
    except Exception as error:  # the cluster's, for instance when every worker that took the job has died
        reason = f"The grader failed: {type(error).__name__}: {error}"
        return Record({question: Verdict(question, "ungraded", reason=reason) for question in release.manifests}, mode)


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError:
        mend = "pip install -c constraints.txt -e '.[cluster,grader]', here and on every worker"
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
