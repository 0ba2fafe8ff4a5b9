"""Grading a class: every submission ends graded, or ungraded with the reason; none is dropped, and none stops the others."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

from shardlab.errors import ShardlabError
from shardlab_grader.classes import cluster, faults, jobs, stages
from shardlab_grader.classes.stages import Grading
from shardlab_grader.records import roster
from shardlab_grader.records.roster import Person, Roster
from shardlab_grader.records.store import Record, sweep
from shardlab_grader.records.submissions import Contents
from shardlab_grader.releases.release import Release
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox.box import Mode
from shardlab_grader.sandbox.servers import Servers
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.question import Question

Advance = Callable[[], None]
Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""Shows a step of a known length; what it gives is called once for each part that is done."""
Told = Callable[[str, str, Record], None]
"""Is given student, key and record of each submission as soon as it is judged."""


def grade(
    course_dir: pathlib.Path,
    assignment: str,
    mode: Mode,
    workers: int,
    progress: Progress,
    student: str = "*",
    *,
    told: Told = lambda *_: None,
    scheduler: str | None = None,
    servers: Servers | None = None,
) -> list[Row]:
    """Grade what is new, then let nbgrader write the gradebook and the feedback pages; one row a submission.

    Args:
        told: hears each verdict at once.
        scheduler: address of a Dask cluster whose workers run the notebooks; they run here unless given.
        servers: as `starting.starting` gives them; closed by the caller if there is nothing to grade.
    Raises:
        ShardlabError: the assignment is not released, the sandbox or the cluster does not start, the disk or the gradebook
            cannot be written.
    """
    grading = Grading(Release.load(course_dir, assignment), mode)
    faults.check(grading.course.root)
    sweep(course_dir)
    with Contents() as contents:
        found = [contents.keep(one) for one in stages.found(grading.release, student)]
        keys = Roster(course_dir).enter(assignment, {one.student: one.key for one in found})
        new, rows = stages.missing(grading, sorted(contents)), dict[str, Row]()
        if new:
            waiting = ((name, contents[name]) for name in new)
            with progress("running and judging", len(new)) as advance:
                for name, record in _graded(grading, waiting, workers, scheduler, servers):
                    for one in (one for one in found if one.key == name):
                        told(one.student, keys[one.student], record)
                        # While the next ones run. What cannot be written now is tried once more when all have been judged.
                        with contextlib.suppress(ShardlabError):
                            rows[one.student] = stages.written(grading, one, contents, fresh=True)
                    advance()
        with progress("writing the gradebook and feedback", len(found)) as advance:
            for one in found:
                row = rows.get(one.student) or stages.written(grading, one, contents, fresh=one.key in new)
                rows[one.student] = dataclasses.replace(row, key=keys[one.student])
                advance()
    return [rows[one.student] for one in found]


def rows(course_dir: pathlib.Path, assignment: str) -> list[Row]:
    """What is known of a class, without grading anything."""
    grading = Grading(Release.load(course_dir, assignment))
    made = [stages.row(grading, one) for one in stages.found(grading.release)]
    keys = Roster(course_dir).enter(assignment, {row.student: "" for row in made})
    return [dataclasses.replace(row, key=keys[row.student]) for row in made]


def records(course_dir: pathlib.Path, assignment: str) -> list[Record]:
    """The record of each submission that has one; nothing says whose it is."""
    grading = Grading(Release.load(course_dir, assignment))
    kept = [stages.kept(grading, one) for one in stages.found(grading.release)]
    return sorted((record for record in kept if record), key=lambda record: json.dumps(record.to_json(), sort_keys=True))


def nameless(rows: Sequence[Row], course_dir: pathlib.Path) -> list[Row]:
    """The rows under their keys, without names, in the order of the keys: that of the class list would tell."""
    people = roster.people(course_dir)
    hidden = [
        dataclasses.replace(row, student=row.key, reason=people.get(row.student, Person(row.student)).hidden(row.reason))
        for row in rows
    ]
    return sorted(hidden, key=lambda row: row.key)


def points(release: Release) -> dict[str, float]:
    """The points of each question of the release, from its grade cells."""
    marks = [cell.metadata.get("nbgrader", {}) for cell in release.notebook.cells]
    given = {mark.grade_id: float(mark.points) for mark in marks if mark.get("grade")}
    return {question: given["q" + question.replace(".", "-")] for question in release.manifests}


def observed(release: Release) -> frozenset[str]:
    """The questions that are judged by what running processes said."""
    kinds = {question: {item["kind"] for item in manifest["items"]} for question, manifest in release.manifests.items()}
    return frozenset(question for question, found in kinds.items() if ProcessesItem.kind in found)


def questions(release: Release) -> list[Question]:
    """The declarations of the release's questions, in order."""
    from shardlab_course.chapters import QUESTIONS

    return [QUESTIONS[question] for question in release.manifests]


def _graded(
    grading: Grading, contents: Iterable[tuple[str, bytes]], workers: int, scheduler: str | None, servers: Servers | None
) -> Iterator[tuple[str, Record]]:
    if scheduler is None:
        return jobs.grade_all(grading, contents, workers, servers)
    return cluster.grade_all(grading, contents, scheduler)
