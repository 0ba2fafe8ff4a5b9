"""From a submitted notebook's bytes to a record: taken from the store, or graded through `jobs` and kept there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nbformat import NotebookNode

from shardlab_grader.classes import jobs
from shardlab_grader.classes.restore import job_cells, owners, restore
from shardlab_grader.records import roster
from shardlab_grader.records.store import Record, Store, key
from shardlab_grader.records.submissions import Unreadable, parse
from shardlab_grader.releases.release import Release
from shardlab_grader.sandbox.box import Mode
from shardlab_grader.sandbox.servers import Servers

ERRORS = 3
"""Exceptions told for one question."""


def recorded(content: bytes, release: Release, mode: Mode) -> tuple[str, Record]:
    """The key and the record of a notebook; graded now when the store has none."""
    name = key(content, release.fingerprint)
    if found := Store(release.course_dir).get(name):
        return name, found
    return name, Keeper(release).keep(name, graded(content, release, mode))


def graded(content: bytes, release: Release, mode: Mode) -> Record:
    """The record of a notebook, graded now and kept nowhere.

    Raises:
        Unreadable: these bytes are not a notebook.
    """
    job = _job("", content, release, release.notebook, mode)
    return _record(job, jobs.grade(job))


def missing(names: Iterable[str], release: Release, mode: Mode) -> list[str]:
    """The keys of the notebooks that must be graded: no record, a question ungraded, no walls."""
    store = Store(release.course_dir)
    return [name for name in names if not _stands(store.get(name), mode)]


def grade_all(
    contents: Mapping[str, bytes], release: Release, mode: Mode, workers: int, servers: Servers | None = None
) -> Iterator[tuple[str, Record]]:
    """Grade notebooks by key and keep each record as soon as it is there.

    Args:
        contents: read as they are needed; one that cannot be read any more is left out.
        servers: as `jobs.starting` gives them.
    """
    keeper = Keeper(release)
    for job, done in jobs.run_all(_work(contents, release, mode), workers, servers):
        yield job.key, keeper.keep(job.key, _record(job, done))


class Keeper:
    """Puts records into the store, without the names of those who handed in."""

    def __init__(self, release: Release) -> None:
        self._store, self._roster = Store(release.course_dir), roster.Roster(release.course_dir)
        self._people = roster.people(release.course_dir)

    def keep(self, name: str, record: Record) -> Record:
        """The record as it was kept."""
        students = self._roster.students(name)
        kept = roster.nameless(record, [self._people.get(one, roster.Person(one)) for one in students])
        self._store.put(name, kept)
        return kept


def _stands(found: Record | None, mode: Mode) -> bool:
    return found is not None and not found.ungraded and found.sandbox in (mode, "bubblewrap")


def _work(contents: Mapping[str, bytes], release: Release, mode: Mode) -> Iterator[jobs.Job]:
    released = release.notebook
    for name in contents:
        try:
            job = _job(name, contents[name], release, released, mode)
        except Unreadable:
            continue
        yield job


def _job(name: str, content: bytes, release: Release, released: NotebookNode, mode: Mode) -> jobs.Job:
    cells = tuple(job_cells(restore(parse(content), released), released))
    return jobs.Job(name, cells, release.manifests, release.references, release.seed, release.settings(mode))


def _record(job: jobs.Job, done: jobs.Graded) -> Record:
    return Record(done.verdicts, done.mode, _errors(job.cells, done), done.seconds, done.programs)


def _errors(cells: Sequence[jobs.Cell], graded: jobs.Graded) -> dict[str, list[str]]:
    """The first exceptions of each question's cells."""
    owner = owners(cells)
    told: dict[str, list[str]] = {}
    for error in graded.errors:
        lines = told.setdefault(owner[error.cell] or "", []) if error.cell < len(owner) else []
        if len(lines) < ERRORS:
            lines.append(f"cell {error.cell + 1}: {error.type}: {error.message}"[:300])
    return told
