"""A class on this machine: several notebooks at once, on servers that are warm."""

from __future__ import annotations

import atexit
import concurrent.futures
import functools
from collections.abc import Iterable, Iterator

from shardlab.errors import ShardlabError
from shardlab_grader.classes import again, stages
from shardlab_grader.classes.judging import Shared
from shardlab_grader.classes.notebook import Job
from shardlab_grader.classes.stages import Graded, Grading
from shardlab_grader.classes.streams import flow
from shardlab_grader.records.store import Record
from shardlab_grader.sandbox.servers import Servers
from shardlab_grader.sandbox.watch import INTERRUPT


def grade_all(
    grading: Grading, contents: Iterable[tuple[str, bytes]], workers: int, servers: Servers | None = None
) -> Iterator[tuple[str, Record]]:
    """Grade handed-in forms by key, and keep each record as soon as it is there.

    Args:
        contents: taken as they are needed.
        servers: as `starting.starting` gives them.
    """
    jobs = (stages.restored(grading, name, content) for name, content in contents)
    for job, done in run_all(jobs, workers, servers):
        yield job.key, stages.recorded(grading, job.key, stages.record(job, done))


def grade_one(grading: Grading, name: str, content: bytes) -> Record:
    """The record under a key; graded now when the store has none, or one that is ungraded."""
    found = grading.store.get(name)
    return found if found and not found.ungraded else stages.recorded(grading, name, graded(grading, name, content))


def graded(grading: Grading, name: str, content: bytes) -> Record:
    """The record of a handed-in form, graded now and kept nowhere."""
    job = stages.restored(grading, name, content)
    done = grade(job)
    again.check_room(done)
    return stages.record(job, again.settled(done, grade(again.patient(job))) if again.in_doubt(done) else done)


def run_all(jobs: Iterable[Job], workers: int, servers: Servers | None = None) -> Iterator[tuple[Job, Graded]]:
    """Every job with its verdicts, as each is done; none is dropped, and what is in doubt is tried again after the others.

    Args:
        jobs: taken as they are needed.
        workers: how many notebooks run at once.
        servers: as `starting.starting` gives them; they are closed afterwards.
    """
    own, servers = concurrent.futures.ThreadPoolExecutor(workers), servers or Servers(workers)
    start = functools.partial(stages.grade, shared=Shared(servers.run))
    try:
        doubtful: list[tuple[Job, Graded]] = []
        for job, future in flow(functools.partial(own.submit, start), jobs, 2 * workers):
            done = _collected(future, job)
            again.check_room(done)
            if again.in_doubt(done):
                doubtful.append((job, done))
            else:
                yield job, done
        for job, first in doubtful:
            second = _collected(own.submit(start, again.patient(job)), job)
            again.check_room(second)
            yield job, again.settled(first, second)
    except BaseException:
        INTERRUPT.set()
        raise
    finally:
        own.shutdown(wait=True, cancel_futures=True)
        servers.close()
        INTERRUPT.clear()


def grade(job: Job) -> Graded:
    """A job's verdicts, on servers that all jobs of this process share."""
    return stages.grade(job, _of_this_process())


@functools.cache
def _of_this_process() -> Shared:
    servers = Servers()
    atexit.register(servers.close)
    return Shared(servers.run)


def _collected(done: concurrent.futures.Future[Graded], job: Job) -> Graded:
    try:
        return done.result()
    except ShardlabError:
        raise
    except Exception as error:
        reason = f"The grader failed: {type(error).__name__}: {error}"
        return Graded(stages.ungraded(job.manifests, reason), mode=job.settings.mode)
