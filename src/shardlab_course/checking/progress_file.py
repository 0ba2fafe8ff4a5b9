"""One small local file: what was passed, predicted and how many hints were opened. Nothing is sent anywhere."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from shardlab.tables import Table

NAME = "shardlab-progress.json"
SIGNS = {"passed": "✓ passed", "failed": "✗ not yet", "unattempted": "· to do"}
HEADINGS = ("", "question", "points", "tries", "hints", "state")


def location() -> pathlib.Path:
    """Where the file lies: `SHARDLAB_PROGRESS` if set, else `shardlab-progress.json` in the working directory."""
    return pathlib.Path(os.environ.get("SHARDLAB_PROGRESS") or pathlib.Path.cwd() / NAME)


def read() -> dict[str, Any]:
    """The file's contents; empty when there is none. A damaged file is set aside as `...json.damaged` and said so."""
    path = location()
    empty: dict[str, Any] = {"questions": {}, "predictions": {}}
    try:
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(raw[key], dict) and all(isinstance(v, dict) for v in raw[key].values()) for key in empty):
            raise ValueError("its fields are not those of a progress file")
        return raw
    except FileNotFoundError:
        return empty
    except (OSError, ValueError, KeyError, TypeError) as error:
        _set_aside(path, error)
        return empty


def note(question: str, **fields: Any) -> None:
    """Change some fields of one question's record, atomically; a folder that cannot be written to is no error."""
    contents = read()
    contents["questions"].setdefault(question, {}).update(fields)
    _write(contents)


def note_prediction(question: str, values: Mapping[str, Any]) -> None:
    """Keep what was predicted for a question."""
    contents = read()
    contents["predictions"].setdefault(question, {}).update(values)
    _write(contents)


def of(question: str) -> dict[str, Any]:
    """One question's record: status, points, tries, hints; empty before the first try."""
    known: dict[str, dict[str, Any]] = read()["questions"]
    return known.get(question, {})


@dataclasses.dataclass(frozen=True, repr=False)
class Progress:
    """A table over all questions; the last expression of a cell shows it."""

    rows: tuple[tuple[str, str, str, str, str, str], ...]
    earned: float
    of: float
    place: str

    def __rich__(self) -> Table:
        told = f"{self.earned:g} of {self.of:g} points. Kept in {self.place}"
        return Table(HEADINGS, ("left",) * len(HEADINGS), self.rows, (told,))

    def __repr__(self) -> str:
        return str(self.__rich__())

    def _repr_html_(self) -> str:
        return self.__rich__().html()


def progress() -> Progress:
    """Every question with its state, points, tries and hints opened."""
    from shardlab_course.chapters import QUESTIONS

    noted = read()["questions"]
    rows = []
    for question in QUESTIONS.values():
        record = noted.get(question.id, {})
        points = f"{record.get('points', 0):g} / {question.points:g}"
        state = SIGNS.get(record.get("status", "unattempted"), "")
        rows.append((question.id, question.title, points, str(record.get("tries", 0)), str(record.get("hints", 0)), state))
    earned = sum(noted.get(id, {}).get("points", 0) for id in QUESTIONS)
    return Progress(tuple(rows), earned, sum(q.points for q in QUESTIONS.values()), str(location()))


def _write(contents: Mapping[str, Any]) -> None:
    path = location()
    try:
        # Beside the file itself: `os.replace` is atomic within one file system only, and several kernels may write.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8", suffix=".tmp") as file:
            json.dump(contents, file, indent=1, sort_keys=True)
        os.replace(file.name, path)
    except OSError as error:
        print(f"Your progress could not be kept in {path} ({error.strerror}); the check itself is not affected.")


def _set_aside(path: pathlib.Path, error: Exception) -> None:
    aside = path.with_name(path.name + ".damaged")
    try:
        os.replace(path, aside)
        print(f"Your progress file could not be read ({error}); it is set aside as {aside.name}, and a new one is begun.")
    except OSError:
        print(f"Your progress file {path} could not be read ({error}); starting without it.")
