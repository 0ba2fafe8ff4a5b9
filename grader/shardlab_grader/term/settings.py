"""What a course decides for itself: exercises and points, deadlines, sections, the penalty, and the plan."""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Mapping

from shardlab_judge.question import Question


@dataclasses.dataclass(frozen=True)
class Assignment:
    """What a course decides of one chapter: the `exercises` that count, all unless named, their points, and deadlines."""

    exercises: tuple[str, ...] | None = None
    core: bool = False
    points: Mapping[str, float] = dataclasses.field(default_factory=dict)
    deadline: datetime.datetime | None = None
    sections: Mapping[str, datetime.datetime] = dataclasses.field(default_factory=dict)

    def counts(self, question: Question) -> bool:
        """Whether an exercise counts."""
        named = self.exercises is None or question.id in self.exercises
        return named and not (self.core and question.optional)

    def worth(self, question: Question) -> float:
        """The points of an exercise; 0 where it does not count."""
        return self.points.get(question.id, question.points) if self.counts(question) else 0.0


@dataclasses.dataclass(frozen=True)
class Penalty:
    """What lateness costs: a share of the score for each day that has begun after `free_hours`, up to `most` of it."""

    a_day: float
    most: float = 1.0
    free_hours: float = 0.0

    def of(self, score: float, seconds: float) -> float:
        """The points that so many seconds after the deadline cost."""
        days = math.ceil(seconds / 86400) if seconds > 3600 * self.free_hours else 0
        return score * min(self.most, self.a_day * days)


@dataclasses.dataclass(frozen=True)
class Settings:
    """A course's own settings: assignments by their chapter, students by their section, chapters by their week.

    `zone` is the time zone in which deadlines are written and shown.
    """

    assignments: Mapping[int, Assignment] = dataclasses.field(default_factory=dict)
    sections: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    penalty: Penalty | None = None
    plan: Mapping[int, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    zone: datetime.tzinfo = datetime.UTC

    def told(self, time: datetime.datetime | None) -> str:
        """A deadline in words, in the course's time zone."""
        return f"{time.astimezone(self.zone):%Y-%m-%d %H:%M} {self.zone}" if time else "none"

    def of(self, name: str) -> Assignment:
        """Those of the assignment of this name; those of a course without settings where it is not named."""
        return self.assignments.get(int(name[:2]) if name[:2].isdecimal() else -1, Assignment())

    def counting(self, declared: Mapping[str, Question]) -> dict[int, list[str]]:
        """By chapter of the plan, in its order, the ids of the exercises that count."""
        chapters = [chapter for chapters in self.plan.values() for chapter in chapters]
        ids = {chapter: [id for id in declared if id.partition(".")[0] == str(chapter)] for chapter in chapters}
        return {n: [id for id in found if self.of(f"{n:02}").counts(declared[id])] for n, found in ids.items()}

    def later(self, name: str) -> dict[str, datetime.timedelta]:
        """By how much the deadline of each student's section is after the common one."""
        found = self.of(name)
        if found.deadline is None:
            return {}
        spans = {section: deadline - found.deadline for section, deadline in found.sections.items()}
        return {one: spans.get(section, datetime.timedelta()) for section, those in self.sections.items() for one in those}
