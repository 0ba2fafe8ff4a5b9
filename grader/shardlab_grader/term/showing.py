"""A term and its deadlines, for the terminal."""

from __future__ import annotations

import collections
import json
import pathlib
from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.table import Table

from shardlab_course.outline import title
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.term.applying import Pending
from shardlab_grader.term.settings import Settings
from shardlab_grader.terminal import typed


def term(settings: Settings, released: Sequence[str]) -> Table:
    """A row for each chapter of the plan or with settings: its week, what counts, its minutes, and when it is due."""
    from shardlab_course.chapters import QUESTIONS

    found = Table(box=None, pad_edge=False)
    for column in ("week", "chapter", "exercises", "minutes", "points", f"deadline ({settings.zone})", "released"):
        found.add_column(column, justify="right" if column in ("minutes", "points") else "left")
    weeks = {chapter: week for week, chapters in settings.plan.items() for chapter in chapters}
    for chapter in [*weeks, *sorted(set(settings.assignments) - set(weeks))]:
        chosen = settings.of(f"{chapter:02}")
        questions = [QUESTIONS[id] for id in QUESTIONS if id.partition(".")[0] == str(chapter)]
        counting = [question for question in questions if chosen.counts(question)]
        times = {"": chosen.deadline} if chosen.deadline else {}
        due = [
            f"{name and name + ': '}{time.astimezone(settings.zone):%Y-%m-%d %H:%M}"
            for name, time in (times | dict(sorted(chosen.sections.items()))).items()
        ]
        there = any(name.startswith(f"{chapter:02}") for name in released)
        found.add_row(
            str(weeks.get(chapter, "")),
            f"{chapter:02} {title(chapter)}",
            f"{len(counting)} of {len(questions)}" if questions else "",
            f"{sum(question.minutes for question in counting)}" if questions else "",
            f"{sum(map(chosen.worth, counting)):g}" if questions else "",
            "\n".join(due),
            "yes" if there else "",
        )
    return found


def sections(found: Mapping[str, Sequence[str]]) -> str:
    """The table of sections as it stands in the settings; JSON's texts and lists are TOML's too."""
    lines = (
        f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(list(those), ensure_ascii=False)}"
        for name, those in found.items()
    )
    return "\n".join(["[sections]", *lines])


def rules(settings: Settings) -> Iterator[str]:
    """Sections and the penalty, a sentence each."""
    if settings.sections:
        sizes = (f"{name} {len(those)}" for name, those in settings.sections.items())
        yield f"students by section: {', '.join(sizes)}"
    if (penalty := settings.penalty) is not None:
        hours = f"{penalty.free_hours:g} hour{'s' * (penalty.free_hours != 1)}"
        free = f"; up to {hours} late costs nothing" if penalty.free_hours else ""
        most = f", at most {penalty.most:.0%}" if penalty.most < 1 else ""
        yield f"lateness costs {penalty.a_day:.0%} of the score for each day that has begun{most}{free}"


def following(course_dir: pathlib.Path, change: Pending) -> str:
    """The command that brings scores up to date, if anybody has handed in."""
    if not any(course_dir.glob(f"submitted/*/{change.assignment}")):
        return "."
    if change.points:
        return f"; next: {typed(f'grade {change.assignment}', course_dir)}, which gives its submissions the new points"
    return f"; next: {typed(f'grade {change.assignment} --penalties', course_dir)}, if it is already graded"


def deadlines(course_dir: pathlib.Path, settings: Settings, assignment: str, students: Collection[str]) -> Iterator[str]:
    """When these students' work is due, and for how many of them."""
    found = Course(course_dir).deadlines(assignment)
    if found.common is None:
        yield f"{assignment} has no deadline, so nobody is late; the days are kept until it has one."
        return
    times = collections.Counter(found.common + found.more.get(one, found.common - found.common) for one in students)
    for time, count in sorted(times.items()):
        whose = f" for {count} of {len(students)} students" if len(students) > 1 else ""
        yield f"the deadline is now {settings.told(time)}{whose}."
