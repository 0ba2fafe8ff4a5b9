"""`sl.progress`: the whole way as one picture, and the exercises of one chapter."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from shardlab.answers.in_the_box import exercise_id
from shardlab.errors import ShardlabError
from shardlab_course import own
from shardlab_course.checking import progress_file
from shardlab_course.checking.moment import following
from shardlab_course.checking.naming import chapter_of
from shardlab_course.outline import Exercise, drawn, outline, title
from shardlab_course.plan import planned
from shardlens import Table

DONE, BEGUN, OPEN = "●", "◐", "○"
OPTIONAL = {DONE: "◆", BEGUN: "◈", OPEN: "◇"}
LEGEND = "● done  ◐ begun  ○ to do; ◆ ◈ ◇ the same for optional exercises"
STATES = {DONE: "✓ passed", BEGUN: "✗ not yet", OPEN: "· to do"}


@dataclasses.dataclass(frozen=True)
class Chapter:
    """One chapter: its exercises, and the state of each."""

    number: int
    title: str
    exercises: tuple[Exercise, ...]
    states: tuple[str, ...]

    @property
    def done(self) -> int:
        """How many core exercises are passed."""
        return sum(s == DONE for e, s in zip(self.exercises, self.states) if not e.optional)

    @property
    def core(self) -> int:
        """How many core exercises there are."""
        return sum(not each.optional for each in self.exercises)

    @property
    def left(self) -> int:
        """Minutes that the core exercises which are not passed may take."""
        return sum(e.minutes for e, s in zip(self.exercises, self.states) if s != DONE and not e.optional)

    @property
    def picture(self) -> str:
        """A sign for each exercise, in order."""
        return "".join(OPTIONAL[s] if e.optional else s for e, s in zip(self.exercises, self.states))

    @property
    def told(self) -> str:
        """What is left of it."""
        return f"{self.left} minutes left" if self.left else "core done"


@dataclasses.dataclass(frozen=True, repr=False)
class Progress:
    """Every chapter with what is done in it; the last expression of a cell shows it.

    `here` is the chapter whose exercises are listed, `next` the exercise that comes next, `place` where this is kept, and
    `noted` what is kept of each exercise.
    """

    chapters: tuple[Chapter, ...]
    here: Chapter
    next: Exercise | None
    place: str
    noted: Mapping[str, Any]
    whole: bool = True

    @property
    def earned(self) -> float:
        """Points of all exercises, which are an instructor's matter."""
        return sum(record.get("points", 0) for record in self.noted.values())

    def __rich__(self) -> Table:
        core, done = sum(c.core for c in self.chapters), sum(c.done for c in self.chapters)
        rows = tuple((str(c.number), c.title, c.picture, c.told) for c in self.chapters)
        lines = [LEGEND] if self.whole else []
        if self.next is not None:
            of = (
                ""
                if self.next.chapter == self.here.number
                else f", in chapter {self.next.chapter} ({title(self.next.chapter)})"
            )
            lines.append(f"Next: {self.next.id} {self.next.title}{of}, {self.next.minutes} minutes.")
        lines.append(f"Kept in {self.place}.")
        beside = self._exercises()
        if not self.whole:
            return dataclasses.replace(beside, lines=tuple(lines))
        said = f"{done} of {core} core exercises done."
        columns, sides = ("", "chapter", "exercises", "core"), ("right", "left", "left", "left")
        return Table(columns, sides, rows, tuple(lines), said, after=beside)

    def _exercises(self) -> Table:
        rows = []
        for each, state in zip(self.here.exercises, self.here.states):
            record = self.noted.get(each.id, {})
            tries, hints = record.get("tries", 0), record.get("hints", 0)
            used = ", ".join(filter(None, (_counted(tries, "try", "tries"), _counted(hints, "hint", "hints"))))
            name = each.title + " (optional)" * each.optional
            rows.append((each.id, name, drawn(each.stars), f"{each.minutes} min", STATES[state], used))
        said = f"Chapter {self.here.number}, {self.here.title}: {self.here.done} of {self.here.core} done, {self.here.told}"
        return Table(("", "exercise", "", "", "", ""), ("left",) * 6, tuple(rows), title=said)

    def __repr__(self) -> str:
        return str(self.__rich__())

    def _repr_html_(self) -> str:
        table = self.__rich__()
        if not self.whole:
            return table.html()
        lines = "".join(f"<div>{escape(line)}</div>" for line in table.lines if line != LEGEND)
        return self._exercises().html() + lines + dataclasses.replace(table, lines=(LEGEND,), after=None).html()


def progress(which: str | float | os.PathLike[str] | None = None) -> Progress:
    """What is done of the course, or of the plan beside the notebook, and what comes next; or the exercises of one chapter.

    Args:
        which: a chapter, as `4`, `"04"`, or by an exercise of it, `4.2`; or a file from the book's page of exercises,
            with what was predicted in a browser. What was predicted in notebooks before stays.
    Raises:
        ShardlabError: there is no such chapter or file, or the file holds something else.
    """
    own.take_beside()
    is_exercise = isinstance(which, float) or (isinstance(which, str) and re.fullmatch(r"\d+\.\d+", which))
    number = chapter_of(str(exercise_id(which)).partition(".")[0] if is_exercise else which)
    if which is not None and number is None:
        _take(pathlib.Path(_path(which)))
    contents = progress_file.read()
    noted, last = contents["questions"], progress_file.last()
    there, plan = outline(), planned()
    if number is not None and number not in there:
        raise ShardlabError(
            "unknown-chapter",
            f"there is no chapter {number}.",
            where=f"sl.progress({which!r})",
            mend=f"the chapters are {min(there)} to {max(there)}: sl.progress({min(there)}).",
        )
    asked = {number: there[number]} if number is not None and number not in plan else {}
    found = {n: Chapter(n, title(n), each, tuple(_state(noted, e) for e in each)) for n, each in (plan | asked).items()}
    worked = int(last.partition(".")[0]) if last.partition(".")[0].isdigit() else -1
    here = number if number is not None else worked if worked in found else None
    coming = following(-1 if here is None else here, noted)
    shown = here if here is not None else coming.chapter if coming else next(iter(found))
    return Progress(tuple(found.values()), found[shown], coming, progress_file.place(), noted, number is None)


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}" if n else ""


def _state(noted: Mapping[str, Any], exercise: Exercise) -> str:
    status = noted.get(exercise.id, {}).get("status")
    return DONE if status == "passed" else BEGUN if status else OPEN


def _path(which: Any) -> str:
    if isinstance(which, str | os.PathLike):
        return os.fspath(which)
    raise ShardlabError(
        "unknown-chapter",
        f"{which!r} is no chapter and no file.",
        where=f"sl.progress({which!r})",
        mend="give a chapter's number, as in sl.progress(4), or nothing.",
    )


def _take(path: pathlib.Path) -> None:
    """Note what was predicted in a browser, as far as it can be an answer."""
    from shardlab_course.chapters import QUESTIONS
    from shardlab_judge.items.value import ValueItem

    try:
        predicted = json.loads(path.read_text(encoding="utf-8"))["predictions"]
        items = {(q.id, i.name): i for q in QUESTIONS.values() for i in q.items if isinstance(i, ValueItem) and i.predicted}
        # A browser keeps names that a later version no longer has.
        read = {
            id: {name: items[id, name].read(value) for name, value in values.items() if (id, name) in items}
            for id, values in predicted.items()
        }
        if predicted and not any(read.values()):
            raise ValueError("none of its exercises is here")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ShardlabError(
            "no-predictions",
            f"{path.name} holds no predictions from the book ({type(error).__name__}: {error}).",
            where=f"sl.progress({path.name!r})",
            mend='take the file that the book\'s page of exercises gives under "Take them along".',
        ) from None
    for id, known in ((id, known) for id, known in read.items() if known):
        progress_file.note_prediction(
            id, {name: r.value for name, r in known.items() if r.value is not None and not r.faults}
        )
