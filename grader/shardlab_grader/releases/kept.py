"""The questions of a chapter of the course as they were released: no later version of them judges what they asked."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Callable

from shardlab_course import dependence, own
from shardlab_grader.records import store
from shardlab_grader.releases import places


def keep(course_dir: pathlib.Path, assignment: str, chapter: int) -> None:
    """Keep a chapter's questions, as they are now, with its release."""
    copy(dependence.home(chapter), places.questions(course_dir, assignment))


def copy(folder: pathlib.Path, target: pathlib.Path) -> None:
    """Make `target` a copy of what declares and judges the questions of a chapter's folder; no answer goes along."""
    if target.is_dir():
        shutil.rmtree(target)
    for path in own.files(folder):
        made = target / path.relative_to(folder)
        made.parent.mkdir(parents=True, exist_ok=True)
        for place in (target, made.parent):
            place.chmod(place.stat().st_mode | 0o755)
        # The judge reads them inside its sandbox, where it is not the owner.
        store.write(made, path.read_text(), 0o644)


def find(course_dir: pathlib.Path, assignment: str, chapter: int, same: Callable[[], bool]) -> bool:
    """Whether this process finds the released questions: those of the course, or the copy where these have changed.

    Args:
        same: whether the questions that are found ask what the release asks; it may raise what their code raises.
    """
    folder = places.questions(course_dir, assignment)
    own.leave(folder)
    if _has_changed(folder, chapter):
        own.take_released(folder)
        if _holds(same):
            return True
        own.leave(folder)  # the judge has changed too, and its copy does not fit
    return _holds(same)


def in_use(course_dir: pathlib.Path, assignment: str) -> pathlib.Path | None:
    """The copy of a release's questions, while this process judges by it."""
    folder = places.questions(course_dir, assignment).resolve()
    return folder if folder in own.folders().values() else None


def _has_changed(folder: pathlib.Path, chapter: int) -> bool:
    try:
        return folder.is_dir() and dependence.declaring(folder) != dependence.declaring(dependence.home(chapter))
    except SyntaxError:
        return True


def _holds(same: Callable[[], bool]) -> bool:
    try:
        return same()
    except Exception:  # whatever a question's code raises that does not fit what it imports
        return False
