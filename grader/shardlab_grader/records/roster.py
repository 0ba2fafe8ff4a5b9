"""Who is who: a random key stands for each submission, and one file in the course directory says whose it is.

The file maps a student and an assignment to the key, and to the names of the verdicts that were made of what this student
handed in; these are what `forget` deletes. Everything below `shardlab/` knows keys and hashes only.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_grader.records.store import Record, write
from shardlab_judge.verdict import Finding, Verdict

FILE = "shardlab-keys.json"
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Without those that are taken for one another when they are read aloud or copied."""
LENGTH = 8
HIDDEN = "[name]"
Keys = dict[str, dict[str, dict[str, Any]]]
"""By student and assignment: `key`, and `verdicts`, the names of what lies in the store."""


@dataclasses.dataclass(frozen=True)
class Person:
    """What a student is called: the `id` of the gradebook, and names and address if it has them."""

    id: str
    names: tuple[str, ...] = ()
    address: str = ""

    def hidden(self, text: str) -> str:
        """The text without this student's names where they stand as whole words.

        A single letter is not taken for a name, nor is a number of up to four digits, which may be one of bytes.
        """
        id = "" if re.fullmatch(r"\d{1,4}", self.id) else self.id
        loose = [re.escape(word) for word in (self.address, id) if len(word) > 1]
        exact = [re.escape(word) for word in self.names if len(word) > 1]
        either = [f"(?i:{'|'.join(loose)})"] * bool(loose) + exact
        return re.sub(rf"(?<![^\W_])(?:{'|'.join(either)})(?![^\W_])", HIDDEN, text) if either else text


class Roster:
    """The file of keys of one course directory."""

    def __init__(self, course_dir: pathlib.Path) -> None:
        self.path = course_dir / FILE

    def enter(self, assignment: str, graded: Mapping[str, str]) -> dict[str, str]:
        """The key of each student's submission, drawn now where there is none.

        Args:
            graded: by student the name of the verdict on the submission; empty when there is none.
        """
        with self._changed() as keys:
            for student, verdict in graded.items():
                entry = keys.setdefault(student, {}).setdefault(assignment, {"key": _drawn(keys), "verdicts": []})
                if verdict and verdict not in entry["verdicts"]:
                    entry["verdicts"].append(verdict)
            return {student: keys[student][assignment]["key"] for student in graded}

    def student(self, assignment: str, key: str) -> str | None:
        """Whose submission has this key."""
        return next((who for who, entries in self._read().items() if entries.get(assignment, {}).get("key") == key), None)

    def students(self, verdict: str) -> list[str]:
        """Who handed in the notebook that this verdict is on; several, when they handed in the same bytes."""
        return [who for who, entries in self._read().items() if verdict in _verdicts(entries)]

    def forget(self, student: str) -> list[str]:
        """Strike a student out; the names of the verdicts that belong to nobody else."""
        with self._changed() as keys:
            mine = _verdicts(keys.pop(student, {}))
            others = {verdict for entries in keys.values() for verdict in _verdicts(entries)}
            return [verdict for verdict in mine if verdict not in others]

    def last(self) -> set[str]:
        """The verdicts that were made last of each submission."""
        entries = (entry for each in self._read().values() for entry in each.values())
        return {entry["verdicts"][-1] for entry in entries if entry["verdicts"]}

    def strike(self, verdicts: Collection[str]) -> None:
        """Strike these verdicts out, whosever they are."""
        with self._changed() as keys:
            for entry in (entry for each in keys.values() for entry in each.values()):
                entry["verdicts"] = [verdict for verdict in entry["verdicts"] if verdict not in verdicts]

    def keys(self, student: str) -> set[str]:
        """The keys of a student's submissions."""
        return {entry["key"] for entry in self._read().get(student, {}).values()}

    def has(self, student: str) -> bool:
        """Whether the file knows the student."""
        return student in self._read()

    @contextlib.contextmanager
    def _changed(self) -> Iterator[Keys]:
        """The file's contents to be changed; another grading run waits meanwhile."""
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            keys = self._read()
            before = json.dumps(keys)
            yield keys
            if json.dumps(keys) != before:
                write(self.path, json.dumps(keys, indent=1, sort_keys=True) + "\n")
        finally:
            os.close(folder)

    def _read(self) -> Keys:
        try:
            found = json.loads(self.path.read_text())
            return {
                who: {name: {"key": e["key"], "verdicts": e["verdicts"]} for name, e in entries.items()}
                for who, entries in found.items()
            }
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError, AttributeError):
            mend = "restore it from a backup; or move it away: new keys are drawn, and `forget` finds only later verdicts."
            what = "the file of keys cannot be read."
            raise ShardlabError("keys-damaged", what, where=str(self.path), mend=mend) from None


def people(course_dir: pathlib.Path) -> dict[str, Person]:
    """What the gradebook calls its students, by id; nobody when it cannot be read."""
    from shardlab_grader.nbgrader.course import Course, quiet

    try:
        with quiet(), Course(course_dir).gradebook() as gradebook:
            return {one.id: _person(one) for one in gradebook.students}
    except Exception:  # SQLAlchemy's, nbgrader's and ours: then the ids are all that there is to hide
        return {}


def nameless(record: Record, persons: Iterable[Person]) -> Record:
    """The record without the names of those who handed it in: a program can print whatever it likes, also a name."""
    persons = list(persons)
    verdicts = {question: _nameless(verdict, persons) for question, verdict in record.verdicts.items()}
    errors = {question: [hidden(line, persons) for line in lines] for question, lines in record.errors.items()}
    return dataclasses.replace(record, verdicts=verdicts, errors=errors)


def hidden(text: str, persons: Iterable[Person]) -> str:
    """The text without these students' names."""
    for person in persons:
        text = person.hidden(text)
    return text


def _nameless(verdict: Verdict, persons: list[Person]) -> Verdict:
    findings = tuple(_finding(finding, persons) for finding in verdict.findings)
    return dataclasses.replace(verdict, findings=findings, reason=hidden(verdict.reason, persons))


def _finding(finding: Finding, persons: list[Person]) -> Finding:
    what, got, where, line = (hidden(text, persons) for text in (finding.what, finding.got, finding.where, finding.line))
    return dataclasses.replace(finding, what=what, got=got, where=where, line=line)


def _person(row: Any) -> Person:
    return Person(row.id, tuple(name for name in (row.first_name, row.last_name) if name), row.email or "")


def _verdicts(entries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [verdict for entry in entries.values() for verdict in entry["verdicts"]]


def _drawn(keys: Keys) -> str:
    """A new key. It begins with a letter: a spreadsheet takes `2345e678` for a number, and `3may2345` for a date."""
    taken = {entry["key"] for entries in keys.values() for entry in entries.values()}
    while (key := "".join(secrets.choice(LETTERS) for _ in range(LENGTH))) in taken or key[0].isdigit():
        pass
    return key
