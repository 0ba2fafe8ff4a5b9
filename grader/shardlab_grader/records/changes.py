"""Points that are others than before: which, and whether the answer or its judge is another."""

from __future__ import annotations

import dataclasses

from shardlab_grader.records.store import Record


@dataclasses.dataclass(frozen=True)
class Change:
    """The points of one exercise of one submission, before and now; `None` where it could not be judged."""

    key: str
    student: str
    question: str
    before: float | None
    now: float | None
    why: str


def changes(key: str, student: str, before: Record, now: Record) -> list[Change]:
    """What a new verdict changes, question by question; a question that came or went with a release is left out."""
    both = [question for question in now.verdicts if question in before.verdicts]
    found = [Change(key, student, q, _points(before, q), _points(now, q), _why(before, now, q)) for q in both]
    return [change for change in found if change.before != change.now]


def _points(record: Record, question: str) -> float | None:
    verdict = record.verdicts[question]
    return None if verdict.status == "ungraded" else float(verdict.points)


def _why(before: Record, now: Record, question: str) -> str:
    if None in (_points(before, question), _points(now, question)):
        return "our side failed " + ("before" if _points(before, question) is None else "now")
    same = before.programs.get(question) == now.programs.get(question) is not None
    return "the same answer, judged anew" if same else "another answer"
