"""Verdicts that nothing needs any more: of submissions that were handed in again, and of releases before the last."""

from __future__ import annotations

import dataclasses
import pathlib

from shardlab_grader.nbgrader.course import Course, verdict_of
from shardlab_grader.records.roster import Roster
from shardlab_grader.records.store import Store


@dataclasses.dataclass(frozen=True)
class Swept:
    """How many verdicts were deleted, or would be, how many bytes they have, and how many stay."""

    verdicts: int
    bytes: int
    stay: int


def tidy(course_dir: pathlib.Path, *, dry: bool = False) -> Swept:
    """Delete the verdicts that are neither the last one of a submission nor the one that its graded copy names.

    Args:
        dry: only say which.
    """
    store, roster, course = Store(course_dir), Roster(course_dir), Course(course_dir)
    copies = course.root.glob(str(course.folder("autograded", "*", "*").relative_to(course.root) / "*.ipynb"))
    needed = roster.last() | {verdict_of(path) for path in copies}
    known = store.sizes()
    old = {name: size for name, size in known.items() if name not in needed}
    if not dry:
        for name in old:
            store.forget(name)
        roster.strike(old)
    return Swept(len(old), sum(old.values()), len(known) - len(old))
