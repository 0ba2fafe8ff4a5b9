"""Verdicts that stand although exercises have other points now: what ran is the same, so nothing runs again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from shardlab_grader.classes import stages
from shardlab_grader.classes.notebook import Job
from shardlab_grader.classes.stages import Grading
from shardlab_grader.records.store import Record
from shardlab_grader.records.submissions import Contents, Submission
from shardlab_judge.question import Question
from shardlab_judge.verdict import Part, Status, Verdict

SURE = 0.5
"""Points from which on no share that is earned, such as 24 of 25, is rounded to all or to nothing."""


def restated(
    grading: Grading, contents: Contents, found: Sequence[Submission], new: Sequence[str]
) -> dict[str, Record | None]:
    """By key of what is `new` the record that nbgrader was last given of the same run, with the points of the release.

    `None` where an answer earned a part of points that have changed: what is stored of it is rounded, so it runs again.
    """
    kept = dict[str, Record | None]()
    for one in found:
        last = stages.given(grading, one) if one.key in new and one.key not in kept else None
        if last and last.basis and stages.stands(last, grading.mode):
            job = stages.restored(grading, one.key, contents[one.key])
            if job.basis == last.basis:
                kept[one.key] = _worth(last, job)
    return kept


def _worth(record: Record, job: Job) -> Record | None:
    """The record with the points of the job's release."""
    from shardlab_course.chapters import QUESTIONS

    points: Mapping[str, float] = job.settings.points
    verdicts = {id: _verdict(verdict, QUESTIONS[id].worth(points[id])) for id, verdict in record.verdicts.items()}
    whole = {id: verdict for id, verdict in verdicts.items() if verdict}
    return dataclasses.replace(record, verdicts=whole, form=job.form) if len(whole) == len(verdicts) else None


def _verdict(verdict: Verdict, question: Question) -> Verdict | None:
    of = {(item.name, letter): most for item in question.items for letter, most in item.points.items()}
    parts = [_part(part, of[part.item, part.letter], verdict.status) for part in verdict.parts]
    whole = tuple(part for part in parts if part)
    return dataclasses.replace(verdict, parts=whole) if len(whole) == len(parts) else None


def _part(part: Part, of: float, status: Status) -> Part | None:
    """The part with `of` points to earn, if all or nothing was earned of those before, or nothing can be earned now."""
    sure = part.of >= SURE
    if of == part.of:
        return part
    if (status == "passed" and not part.of) or (sure and part.points == part.of):
        return dataclasses.replace(part, points=round(of * 1.0, 2), of=of)
    if status == "unattempted" or (sure and not part.points) or (not of and part.points < part.of):
        return dataclasses.replace(part, points=0.0, of=of)
    return None
