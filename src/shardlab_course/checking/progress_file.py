"""One small local file: what was passed, predicted and how many hints were opened. Nothing is sent anywhere."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

NAME = "shardlab-progress.json"
FIELDS = {"status": str, "points": float | int, "of": float | int, "tries": int, "hints": int, "causes": list, "told": list}
"""What is kept of a question, if it is, and its type."""


def location() -> pathlib.Path:
    """Where the file lies: `SHARDLAB_PROGRESS` if set, else `shardlab-progress.json` in the working directory."""
    return pathlib.Path(os.environ.get("SHARDLAB_PROGRESS") or pathlib.Path.cwd() / NAME)


def place() -> str:
    """Where the file is, in words."""
    path = location()
    return f"{path.name}, in the folder where this runs" if path.parent == pathlib.Path.cwd() else str(path)


def read() -> dict[str, Any]:
    """The file's contents; empty when there is none. A damaged file is set aside as `...json.damaged`, and said so."""
    path = location()
    empty: dict[str, Any] = {"questions": {}, "predictions": {}}
    try:
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(raw[key], dict) and all(isinstance(v, dict) for v in raw[key].values()) for key in empty):
            raise ValueError("its fields are not those of a progress file")
        for question, record in raw["questions"].items():
            if wrong := [name for name, kind in FIELDS.items() if name in record and not isinstance(record[name], kind)]:
                raise ValueError(f"of {question} it holds other {' and '.join(wrong)} than it was given")
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


def note_check(question: str, **fields: Any) -> None:
    """The same for a check, which is the last one from now on."""
    contents = read()
    contents["questions"].setdefault(question, {}).update(fields)
    _write({**contents, "last": question})


def note_prediction(question: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what was predicted for a question where nothing was before; all that is kept of it then."""
    contents = read()
    kept: dict[str, Any] = contents["predictions"].setdefault(question, {})
    for name, value in values.items():
        # A dict may be filled in by and by.
        both = isinstance(value, dict) and isinstance(kept.get(name), dict)
        kept[name] = {**value, **kept[name]} if both else value if kept.get(name) is None else kept[name]
    _write(contents)
    return kept


def of(question: str) -> dict[str, Any]:
    """One question's record: status, points, tries, hints; empty before the first try."""
    known: dict[str, dict[str, Any]] = read()["questions"]
    return known.get(question, {})


def last() -> str:
    """The exercise that was checked last; empty before the first check."""
    known = read().get("last", "")
    return known if isinstance(known, str) else ""


def _write(contents: Mapping[str, Any]) -> None:
    path, text = location(), json.dumps(contents, indent=1, sort_keys=True)
    try:
        # Beside the file itself: `os.replace` is atomic within one file system only, and several kernels may write.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8", suffix=".tmp") as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError as error:
        print(f"Your progress could not be kept in {path} ({error.strerror}); the check itself is not affected.")


def _set_aside(path: pathlib.Path, error: Exception) -> None:
    # What was set aside before may be the one that somebody needs.
    names = (f"{path.name}.damaged{n if n > 1 else ''}" for n in itertools.count(1))
    aside = next(place for name in names if not (place := path.with_name(name)).exists())
    try:
        os.replace(path, aside)
        print(f"Your progress file could not be read ({error}); it is set aside as {aside.name}, and a new one is begun.")
    except OSError:
        print(f"Your progress file {path} could not be read ({error}); starting without it.")
