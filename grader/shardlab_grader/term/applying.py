"""From a course's settings to what is released: which points, deadlines and extensions would change, and changing them."""

from __future__ import annotations

import dataclasses
import datetime
import pathlib
from collections.abc import Iterator, Mapping

import nbformat

from shardlab_course.editions import edition
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.releases.release import Release, revalue
from shardlab_grader.term import extensions
from shardlab_grader.term.settings import Settings

NONE = datetime.timedelta()


@dataclasses.dataclass(frozen=True)
class Pending:
    """What differs between a released assignment and the settings.

    `points` by exercise as they are and as they will be, the `deadline` likewise, `more` time by student; `unknown` are
    students of a section whom the gradebook lacks, and `lacking` exercises that shall count and are not in the release.
    """

    assignment: str
    points: Mapping[str, tuple[float, float]]
    deadline: tuple[datetime.datetime | None, datetime.datetime] | None
    more: Mapping[str, datetime.timedelta]
    unknown: tuple[str, ...]
    lacking: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.points or self.deadline or self.more)

    def lines(self, settings: Settings, names: bool) -> Iterator[str]:
        """Each difference, as a sentence."""
        for id, (before, after) in self.points.items():
            yield f"{id}: {before:g} -> {after:g} points{'; it no longer counts' if not after else ''}"
        if self.deadline:
            yield f"deadline: {settings.told(self.deadline[0])} -> {settings.told(self.deadline[1])}"
        if self.more:
            yield f"deadlines of {_counted(list(self.more), 'student', names)}"
        if self.unknown:
            students = _counted(self.unknown, "student", names)
            yield f"not yet in the gradebook, so without their section's deadline: {students}"
        if self.lacking:
            yield f"not in the release, so they cannot count: {', '.join(self.lacking)}"


def pending(course_dir: pathlib.Path, settings: Settings, assignment: str) -> Pending:
    """What would change of a released assignment."""
    chosen, course = settings.of(assignment), Course(course_dir)
    points = _points(course_dir, settings, assignment)
    now = course.deadlines(assignment)
    moved = chosen.deadline is not None and chosen.deadline != now.common
    deadline = (now.common, chosen.deadline) if moved and chosen.deadline else None
    later, days, there = settings.later(assignment), extensions.load(course_dir).get(assignment, {}), course.students()
    asked = {*later, *days} if chosen.deadline or now.common else ()
    due = {one: later.get(one, NONE) + datetime.timedelta(days=days.get(one, 0)) for one in sorted(asked)}
    more = {one: span for one, span in due.items() if one in there and span != now.more.get(one, NONE)}
    unknown = tuple(sorted(one for one, span in due.items() if span and one not in there))
    lacking = tuple(id for id in chosen.exercises or () if id not in points)
    return Pending(
        assignment, {id: both for id, both in points.items() if both[0] != both[1]}, deadline, more, unknown, lacking
    )


def apply(course_dir: pathlib.Path, change: Pending) -> None:
    """Make a released assignment what the settings say."""
    if change.points:
        revalue(course_dir, change.assignment, {id: after for id, (_, after) in change.points.items()})
    course = Course(course_dir)
    if change.deadline:
        course.set_deadline(change.assignment, change.deadline[1])
    if change.more:
        course.extend(change.assignment, change.more)


def due(course_dir: pathlib.Path, settings: Settings, assignment: str) -> Pending:
    """Give students their own deadlines before they are graded, also those who came after the release; what is left to do.

    Where the common deadline is another one in the settings, it is for `settings` to move all of them.
    """
    Release.load(course_dir, assignment)  # which says what of it is lost or damaged, before anything reads it
    course, change = Course(course_dir), pending(course_dir, settings, assignment)
    come = [one for one in change.unknown if course.folder("submitted", assignment, one).exists()]
    for one in come:
        course.add_student(one)  # as nbgrader does when it grades them
    change = pending(course_dir, settings, assignment) if come else change
    if change.more and not change.deadline:
        course.extend(assignment, change.more)
        change = dataclasses.replace(change, more={})
    return dataclasses.replace(change, unknown=(), lacking=())


def _points(course_dir: pathlib.Path, settings: Settings, assignment: str) -> dict[str, tuple[float, float]]:
    """By released exercise its points and those of the settings, which keep what was released unless they say otherwise."""
    from shardlab_course.chapters import QUESTIONS

    chosen, found = settings.of(assignment), dict[str, tuple[float, float]]()
    released = nbformat.read(course_dir / "release" / assignment / f"{assignment}.ipynb", as_version=4)
    for cell in released.cells:
        match = edition.GRADE.match(cell.source) if cell.cell_type == "code" else None
        if match and match[1] in QUESTIONS:
            question, before = QUESTIONS[match[1]], float(cell.metadata.nbgrader.points)
            # An exercise that counts again has the points of the course.
            kept = dataclasses.replace(chosen, points={question.id: before or question.points, **chosen.points})
            found[question.id] = (before, kept.worth(question))
    return found


def _counted(students: list[str] | tuple[str, ...], noun: str, names: bool) -> str:
    listed = f": {', '.join(sorted(students))}" if names else ""
    return f"{len(students)} {noun}{'s' * (len(students) != 1)}{listed}"
