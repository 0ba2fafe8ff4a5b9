"""Verdicts by content: what was graded once, under the same release and versions, is not graded again.

The release's seed is part of each name and is nobody's but the instructor's: who has a notebook, but not the seed, cannot
tell whether its verdict is in the store.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pathlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from shardlab_grader.records import ledger, sharing
from shardlab_judge.verdict import Verdict


@dataclasses.dataclass(frozen=True)
class Record:
    """The verdicts on one notebook, the exceptions of its cells in words, and the sandbox in which it ran.

    `seconds` has the wall time of its run, its processes and its judge, `programs` by question a hash of those handed in,
    `notes` by question sentences for its student, `form` a hash of the handed-in form, and `basis` one
    of all that it depends on but the points of the questions.
    """

    verdicts: Mapping[str, Verdict]
    sandbox: str
    errors: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    programs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    form: str = ""
    basis: str = ""

    @property
    def points(self) -> float:
        """Points of all questions."""
        return round(sum(verdict.points for verdict in self.verdicts.values()), 2)

    @property
    def ungraded(self) -> tuple[str, ...]:
        """Questions that we failed to grade."""
        return tuple(question for question, verdict in self.verdicts.items() if verdict.status == "ungraded")

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, read back by `from_json`."""
        verdicts = {question: verdict.to_json() for question, verdict in self.verdicts.items()}
        errors = {question: list(lines) for question, lines in self.errors.items()}
        measured = {"seconds": dict(self.seconds), "programs": dict(self.programs)}
        notes = {"notes": {question: list(lines) for question, lines in self.notes.items()}} if self.notes else {}
        form = {name: value for name in ("form", "basis") if (value := getattr(self, name))}
        return {"sandbox": self.sandbox, "verdicts": verdicts, "errors": errors, **measured, **notes, **form}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Record:
        """The record that `to_json` wrote."""
        verdicts = {question: Verdict.from_json(verdict) for question, verdict in raw["verdicts"].items()}
        seconds, programs, notes = (raw.get(name, {}) for name in ("seconds", "programs", "notes"))
        return cls(
            verdicts, raw["sandbox"], raw["errors"], seconds, programs, notes, raw.get("form", ""), raw.get("basis", "")
        )


class Store:
    """One JSON file a verdict under `shardlab/verdicts/` of the course directory."""

    def __init__(self, course_dir: pathlib.Path) -> None:
        self._folder = course_dir / "shardlab" / "verdicts"

    def get(self, key: str) -> Record | None:
        """The record, or `None` when there is none that can be read."""
        try:
            return Record.from_json(json.loads(self._path(key).read_text()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, record: Record) -> None:
        """Keep a record; a reader sees the whole file or none."""
        write(self._path(key), json.dumps({"key": key, **record.to_json()}, indent=1, sort_keys=True) + "\n")

    def forget(self, key: str) -> bool:
        """Delete a record; whether there was one."""
        there = self._path(key).exists()
        self._path(key).unlink(missing_ok=True)
        return there

    def sizes(self) -> dict[str, int]:
        """The bytes of each record that there is, by its key."""
        return {path.stem: path.stat().st_size for path in sorted(self._folder.glob("[!.]*.json"))}

    def _path(self, key: str) -> pathlib.Path:
        return self._folder / f"{key}.json"


def key(content: bytes, release: str) -> str:
    """The name of a verdict.

    Args:
        content: the submitted notebook.
        release: the release's fingerprint: questions, seed, references, and all that judges them.
    """
    return hashlib.sha256(f"{hashlib.sha256(content).hexdigest()}\n{release}".encode()).hexdigest()


def write(path: pathlib.Path, text: str, mode: int = 0o600) -> None:
    """Write a file at once or not at all, in a directory that only its owner can enter when it is new.

    In a shared course it is its group's too.
    """
    write_bytes(path, text.encode(), mode)


def write_bytes(path: pathlib.Path, content: bytes, mode: int = 0o600) -> None:
    """The same of bytes."""
    sharing.make(path.parent)
    made = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with ledger.entered(made):
        try:
            with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fchmod(file.fileno(), sharing.mode(path.parent, mode))
                os.fsync(file.fileno())
            os.replace(made, path)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
