"""Points that are others than before: which, and whether the answer or its judge is another; kept beside the gradebook.

`shardlab/changes/ASSIGNMENT.json` has every change that was written, under keys and without names, and the versions that
graded the class last.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_grader.records.store import Record, write

WORTH = "now worth"
"""Begins the reason where an exercise has other points: the same for a whole class."""


@dataclasses.dataclass(frozen=True)
class Change:
    """The points of one exercise of one submission, before and now; `None` where it could not be judged.

    `date` is the day on which a kept change was written.
    """

    key: str
    student: str
    question: str
    before: float | None
    now: float | None
    why: str
    date: str = ""


@dataclasses.dataclass(frozen=True)
class Kept:
    """What is kept of a class: the versions that graded it last, and every change so far, oldest first, without names."""

    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    changes: tuple[Change, ...] = ()


def kept(course_dir: pathlib.Path, assignment: str) -> Kept:
    """What is kept; nothing where no class was graded since such a file is.

    Raises:
        ShardlabError: the file is damaged.
    """
    path = _path(course_dir, assignment)
    try:
        raw: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {"versions": {}, "changes": []}
        return Kept(dict(raw["versions"]), tuple(Change(student="", **change) for change in raw["changes"]))
    except (ValueError, KeyError, TypeError):
        mend = "restore it from a backup; or move it away: then earlier changes are no longer reported."
        raise ShardlabError(
            "changes-damaged", "the file of changed scores cannot be read.", where=str(path), mend=mend
        ) from None


def keep(course_dir: pathlib.Path, assignment: str, new: Sequence[Change], versions: Mapping[str, str]) -> None:
    """Add changes of today to those that are kept; what a run kept that was killed then is not added twice."""
    before, today = kept(course_dir, assignment), datetime.date.today().isoformat()
    last = {(change.key, change.question): change for change in before.changes}
    added = [
        dataclasses.replace(change, date=today)
        for change in new
        if (old := last.get((change.key, change.question))) is None or (old.before, old.now) != (change.before, change.now)
    ]
    if added or versions != before.versions:
        _write(_path(course_dir, assignment), Kept(versions, (*before.changes, *added)))


def take_back(course_dir: pathlib.Path, assignment: str, new: Sequence[Change]) -> None:
    """Strike changes out that were kept, and then not made."""
    before, gone = kept(course_dir, assignment), {(one.key, one.question, one.before, one.now) for one in new}
    today = datetime.date.today().isoformat()
    left = [c for c in before.changes if c.date != today or (c.key, c.question, c.before, c.now) not in gone]
    _write(_path(course_dir, assignment), Kept(before.versions, tuple(left)))


def forget(course_dir: pathlib.Path, keys: Collection[str]) -> None:
    """Strike the changes of these submissions out."""
    for path in sorted(_path(course_dir, "").parent.glob("*.json")):
        found = kept(course_dir, path.stem)
        others = tuple(change for change in found.changes if change.key not in keys)
        if others != found.changes:
            _write(path, Kept(found.versions, others))


def _path(course_dir: pathlib.Path, assignment: str) -> pathlib.Path:
    return course_dir / "shardlab" / "changes" / f"{assignment}.json"


def _write(path: pathlib.Path, found: Kept) -> None:
    rows = [{name: value for name, value in vars(change).items() if name != "student"} for change in found.changes]
    write(path, json.dumps({"versions": dict(found.versions), "changes": rows}, indent=1, sort_keys=True) + "\n")


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
    if before.verdicts[question].of != now.verdicts[question].of:
        return f"{WORTH} {now.verdicts[question].of:g} points"
    if before.form and before.form == now.form:
        return "the same notebook, judged anew"
    if before.programs.get(question) == now.programs.get(question) is not None:
        return "the same answer, judged anew"
    return "another answer" if before.form and now.form else "another answer, or judged anew"
