"""`shardlab.toml`, a course's own settings: read whole, and all its mistakes told at once."""

from __future__ import annotations

import datetime
import pathlib
import re
import tomllib
import zoneinfo
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from shardlab.errors import ShardlabError
from shardlab_course import own
from shardlab_grader.releases import places
from shardlab_grader.term.settings import Assignment, Penalty, Settings

FILE = "shardlab.toml"
CORE = "core"
MOST_POINTS = 1000
"""Of one exercise: more is a slip of the hand."""
Table = Mapping[str, Any]
T = TypeVar("T")


def load(course_dir: pathlib.Path) -> Settings:
    """The settings of a course; those of a course without the file where it is missing.

    Raises:
        ShardlabError: the file cannot be read, or has mistakes; all of them are told.
    """
    path = course_dir / FILE
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Settings()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        mend = "mend this line: put words in quotes, and names of tables in brackets."
        raise ShardlabError("bad-settings", f"the settings are not TOML: {error}.", where=str(path), mend=mend) from None
    for name in places.releases(course_dir):
        if folder := places.chapter(course_dir, name):
            own.take(folder)
    reading = _Reading()
    found = reading.settings(raw)
    if reading.faults:
        count = f"{len(reading.faults)} mistake{'s' * (len(reading.faults) > 1)}"
        where = "\n".join([str(path), *reading.faults])
        raise ShardlabError("bad-settings", f"the settings have {count}.", where=where, mend="mend what is named.")
    return found


class _Reading:
    """One reading of a file: where there is a mistake, it is noted and the reading goes on."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._zone: zoneinfo.ZoneInfo | None = None

    def settings(self, raw: Table) -> Settings:
        """All of it."""
        self._known(raw, "", ("timezone", "assignments", "sections", "penalty", "plan"))
        self._zone = self._timezone(raw.get("timezone"))
        sections = self._each(raw, "sections", self._students)
        students = [one for those in sections.values() for one in those or ()]
        for one in sorted({one for one in students if students.count(one) > 1}):
            self._fault("sections", f"{one} is in more than one place")
        chapters = self._each(raw, "assignments", lambda where, raw: raw)
        assignments = dict[int, Assignment]()
        for key, each in chapters.items():
            where = f"assignments.{key}"
            number = self._chapter(where, key)
            if number in assignments:
                self._fault(where, f"chapter {number} is named twice")
            if number is not None and (table := self._of(where, each, dict, "a table")) is not None:
                assignments[number] = self._assignment(where, number, table, sections)
        penalty = self._penalty(raw["penalty"]) if "penalty" in raw else None
        return Settings(assignments, sections, penalty, self._plan(raw), self._zone or datetime.UTC)

    def _assignment(self, where: str, number: int, raw: Table, sections: Table) -> Assignment:
        self._known(raw, where, ("exercises", "points", "deadline", "sections"))
        ids = _exercises(number)
        named = raw.get("exercises")
        core = named == CORE
        listed = tuple(named) if isinstance(named, list) and all(isinstance(one, str) for one in named) else None
        if named is not None and not core and not listed:
            self._fault(f"{where}.exercises", f'write a list, such as ["{number}.1", "{number}.2"], or "{CORE}"')
        points = self._each(raw, "points", self._share(MOST_POINTS), where)
        for part, id in [("exercises", id) for id in listed or ()] + [("points", id) for id in points]:
            if ids and id not in ids:
                has = f"chapter {number} has {ids[0]} to {ids[-1]}"
                self._fault(f"{where}.{part}", f"{id!r} is not an exercise; {has}, each in quotes")
        if listed:
            for id in [id for id in points if id not in listed]:
                self._fault(f"{where}.points", f"{id!r} is not among the exercises that count")
        deadline = self._time(f"{where}.deadline", raw["deadline"]) if "deadline" in raw else None
        later = self._each(raw, "sections", self._time, where)
        if later and deadline is None:
            self._fault(where, "sections have deadlines, but the assignment has none")
        for section, time in later.items():
            if section not in sections:
                self._fault(f"{where}.sections", f"there is no section {section!r}; name it in [sections]")
            if time and deadline and time < deadline:
                self._fault(
                    f"{where}.sections.{section}",
                    "it is before the common deadline: make the earliest deadline the common one",
                )
        return Assignment(listed, core, points, deadline, {name: time for name, time in later.items() if time})

    def _penalty(self, raw: object) -> Penalty | None:
        table = self._of("penalty", raw, dict, "a table")
        if table is None:
            return None
        self._known(table, "penalty", ("a_day", "most", "free_hours"))
        if "a_day" not in table:
            self._fault("penalty", "it lacks a_day, the share of the score that a day costs, such as 0.1")
        share, hours = self._share(1), self._share(24 * 365)
        a_day, most = share("penalty.a_day", table.get("a_day", 0)), share("penalty.most", table.get("most", 1))
        return Penalty(a_day, most, hours("penalty.free_hours", table.get("free_hours", 0)))

    def _plan(self, raw: Table) -> dict[int, tuple[int, ...]]:
        found = dict[int, tuple[int, ...]]()
        for week, chapters in self._each(raw, "plan", lambda where, raw: raw).items():
            where = f"plan.{week}"
            if not week.isdecimal():
                self._fault(where, "a week is a whole number")
                continue
            listed = self._of(where, chapters, list, 'a list of chapters, such as ["00", "01"]') or []
            numbers = (self._chapter(where, str(one)) for one in listed)
            found[int(week)] = tuple(number for number in numbers if number is not None)
        every = [number for chapters in found.values() for number in chapters]
        for number in sorted({number for number in every if every.count(number) > 1}):
            self._fault("plan", f"chapter {number} is in more than one place")
        return dict(sorted(found.items()))

    def _each(self, raw: Table, name: str, read: Callable[[str, Any], T], inside: str = "") -> dict[str, T]:
        """What is read of each entry of a table, which may be missing."""
        where = f"{inside}.{name}".lstrip(".")
        table = self._of(where, raw.get(name, {}), dict, "a table") or {}
        return {key: read(f"{where}.{key}", value) for key, value in table.items()}

    def _chapter(self, where: str, key: str) -> int | None:
        if not re.fullmatch(r"\d{1,2}", key):
            self._fault(where, f'{key!r} is not a chapter; write its number, such as "04"')
            return None
        if not _exercises(int(key)) and not re.fullmatch(own.NUMBER, key):
            self._fault(where, f"the course has no chapter {int(key)}")
            return None
        return int(key)

    def _students(self, where: str, raw: object) -> tuple[str, ...]:
        return tuple(map(str, self._of(where, raw, list, 'a list of ids, such as ["gus", "hana"]') or ()))

    def _share(self, most: float) -> Callable[[str, Any], float]:
        """Reads a number from 0 to `most`."""

        def read(where: str, raw: object) -> float:
            if isinstance(raw, int | float) and not isinstance(raw, bool) and 0 <= raw <= most:
                return float(raw)
            self._fault(where, f"write a number from 0 to {most:g}")
            return 0.0

        return read

    def _timezone(self, raw: object) -> zoneinfo.ZoneInfo | None:
        try:
            return zoneinfo.ZoneInfo(raw) if isinstance(raw, str) else None
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            self._fault("timezone", f"there is no time zone {raw!r}; write it as Europe/Berlin")
            return zoneinfo.ZoneInfo("UTC")

    def _time(self, where: str, raw: object) -> datetime.datetime | None:
        if not isinstance(raw, datetime.datetime):
            self._fault(where, "write a date and a time without quotes, such as 2027-03-01T18:00:00")
            return None
        if raw.tzinfo is None and self._zone is None:
            self._fault(where, 'in which time zone? Begin the file with one, such as timezone = "Europe/Berlin"')
            return None
        return (raw if raw.tzinfo else raw.replace(tzinfo=self._zone)).astimezone(datetime.UTC)

    def _known(self, raw: Table, where: str, names: tuple[str, ...]) -> None:
        for name in raw:
            if name not in names:
                self._fault(f"{where}.{name}".lstrip("."), f"there is no such setting; there are {', '.join(names)}")

    def _of(self, where: str, raw: object, kind: type[T], said: str) -> T | None:
        """What is written there, if it is of this kind."""
        if isinstance(raw, kind):
            return raw
        self._fault(where, f"write {said}")
        return None

    def _fault(self, where: str, what: str) -> None:
        self.faults.append(f"{where}: {what}.")


def _exercises(number: int) -> list[str]:
    """The ids of a chapter's exercises; none of a chapter that is not here."""
    from shardlab_course.chapters import QUESTIONS

    return [id for id in QUESTIONS if id.partition(".")[0] == str(number)]
