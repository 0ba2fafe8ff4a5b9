"""Forgetting a student: what is deleted of ours, and what stays with nbgrader and how it goes."""

from __future__ import annotations

import dataclasses
import glob
import pathlib
import shutil
from collections.abc import Iterator

from shardlab.errors import ShardlabError
from shardlab_grader.nbgrader.course import Course, quiet, verdict_of
from shardlab_grader.plain import quoted
from shardlab_grader.records import changes
from shardlab_grader.records.roster import Roster
from shardlab_grader.records.store import Store
from shardlab_grader.releases import places
from shardlab_grader.term import extensions


@dataclasses.dataclass(frozen=True)
class Forgotten:
    """How many verdicts and which folders were deleted; what `stays`, each with the command that removes it."""

    verdicts: int
    folders: tuple[pathlib.Path, ...]
    stays: tuple[tuple[str, str], ...]


def forget(course_dir: pathlib.Path, student: str) -> Forgotten:
    """Delete what the store, the file of keys and the feedback pages hold of a student, and the student's own variants.

    A verdict that is also another student's, who handed in the same bytes, stays as that student's.

    Raises:
        ShardlabError: nothing is known of such a student.
    """
    course, roster = Course(course_dir), Roster(course_dir)
    folders = {step: list(_folders(course, step, student)) for step in ("feedback", "autograded", "submitted")}
    registered = _registered(course, student)
    if not (roster.has(student) or registered or any(folders.values())):
        mend = "write the name of the student's folder in submitted/."
        raise ShardlabError("unknown-student", "nothing is stored about this student.", where=f"{course_dir}", mend=mend)
    # Verdicts from before the student had a key are known to nbgrader's copies only.
    notebooks = [path for folder in folders["autograded"] for path in folder.rglob("*.ipynb")]
    last = {name for path in notebooks if (name := verdict_of(path))}
    changes.forget(course_dir, roster.keys(student))
    extensions.forget(course_dir, student)
    names = {*roster.forget(student), *(name for name in last if not roster.students(name))}
    deleted = sum(Store(course_dir).forget(name) for name in sorted(names))
    given = [folder for folder in places.variants(course_dir).glob("*/*") if folder.name == student]
    for folder in (*folders["feedback"], *given):
        shutil.rmtree(folder)
    stays = _stays(course, student, registered, [*folders["submitted"], *folders["autograded"]])
    return Forgotten(deleted, tuple(folders["feedback"]), tuple(stays))


def _stays(course: Course, student: str, registered: bool, folders: list[pathlib.Path]) -> Iterator[tuple[str, str]]:
    if registered:
        remove = f"nbgrader db student remove {quoted(student)} --force"
        yield "name, scores and comments in nbgrader's database", f"cd {quoted(str(course.root))} && {remove}"
    for folder in folders:
        yield f"{folder.relative_to(course.root)}, with the notebook", f"rm -r {quoted(str(folder))}"


def _registered(course: Course, student: str) -> bool:
    with quiet(), course.gradebook() as gradebook:
        return any(one.id == student for one in gradebook.students)


def _folders(course: Course, step: str, student: str) -> Iterator[pathlib.Path]:
    """The student's own folders of a step: one for all assignments where nbgrader's layout has one."""
    if not student or pathlib.PurePath(student).name != student or student == "..":
        return
    pattern = course.folder(step, "*", glob.escape(student)).relative_to(course.root)
    found = set(course.root.glob(str(pattern)))
    if found and all(path.parent.name == student for path in found):
        found = {path.parent for path in found}
    yield from sorted(found)
