"""One small local file: what was passed, predicted and how many hints were opened. Nothing is sent anywhere."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from shardlab.errors import ShardlabError
from shardlens import Table

NAME = "shardlab-progress.json"
FIELDS = {"status": str, "points": float | int, "of": float | int, "tries": int, "hints": int, "causes": list}
"""What is kept of a question, if it is, and its type."""
SIGNS = {"passed": "✓ passed", "failed": "✗ not yet", "unattempted": "· to do"}
Row = tuple[str, str, str, str, str, str]
HEADINGS = ("", "question", "points", "tries", "hints", "state")


def location() -> pathlib.Path:
    """Where the file lies: `SHARDLAB_PROGRESS` if set, else `shardlab-progress.json` in the working directory."""
    return pathlib.Path(os.environ.get("SHARDLAB_PROGRESS") or pathlib.Path.cwd() / NAME)


def _told(path: pathlib.Path) -> str:
    return f"{path.name}, in the folder where this runs" if path.parent == pathlib.Path.cwd() else str(path)


def read() -> dict[str, Any]:
    """The file's contents; empty when there is none. A damaged file is set aside as `...json.damaged` and said so."""
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


def note_prediction(question: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what was predicted for a question where nothing was before; all that is kept of it then."""
    contents = read()
    kept: dict[str, Any] = contents["predictions"].setdefault(question, {})
    for name, value in values.items():
        # A dict may be filled in by and by.
        both = isinstance(value, dict) and isinstance(kept.get(name), dict)
        kept[name] = {**value, **kept[name]} if both else kept.get(name, value)
    _write(contents)
    return kept


def of(question: str) -> dict[str, Any]:
    """One question's record: status, points, tries, hints; empty before the first try."""
    known: dict[str, dict[str, Any]] = read()["questions"]
    return known.get(question, {})


@dataclasses.dataclass(frozen=True, repr=False)
class Progress:
    """Points by chapter, what is next, and the exercises of that chapter; the last expression of a cell shows it.

    `rows` has all exercises; `chapters` number, points earned and points of each; `core` the points earned in the exercises
    that are not optional, and those that there are.
    """

    rows: tuple[Row, ...]
    chapters: tuple[tuple[str, float, float], ...]
    core: tuple[float, float]
    next: str
    place: str

    @property
    def earned(self) -> float:
        """Points of all chapters."""
        return sum(earned for _, earned, _ in self.chapters)

    @property
    def of(self) -> float:
        """Points that can be earned."""
        return sum(of for _, _, of in self.chapters)

    def __rich__(self) -> Table:
        told = f"{self.earned:g} of {self.of:g} points; of the core {self.core[0]:g} of {self.core[1]:g}."
        lines = [*([f"Next: {self.next}"] if self.next else []), f"Kept in {self.place}."]
        rows = tuple((chapter, f"{earned:g} / {of:g}") for chapter, earned, of in self.chapters)
        bars = tuple(earned / of for _, earned, of in self.chapters)
        here = (self.next or self.rows[-1][0]).partition(".")[0]
        beside = _table(row for row in self.rows if row[0].partition(".")[0] == here)
        return Table(("chapter", "points"), ("left", "right"), rows, tuple(lines), told, bars=bars, after=beside)

    def __repr__(self) -> str:
        return str(self.__rich__())

    def _repr_html_(self) -> str:
        whole = f"<details><summary>All exercises</summary>{_table(self.rows).html()}</details>"
        return self.__rich__().html() + whole


def _take(path: pathlib.Path) -> None:
    """Note what was predicted in a browser, as far as it can be an answer."""
    from shardlab_course.chapters import QUESTIONS
    from shardlab_judge.items.value import ValueItem

    try:
        predicted = json.loads(path.read_text(encoding="utf-8"))["predictions"]
        items = {(q.id, i.name): i for q in QUESTIONS.values() for i in q.items if isinstance(i, ValueItem) and i.predicted}
        read = {
            id: {name: items[id, name].read(value) for name, value in values.items()} for id, values in predicted.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ShardlabError(
            "no-predictions",
            f"{path.name} holds no predictions from the book ({type(error).__name__}: {error}).",
            where=f"sl.progress({path.name!r})",
            mend='take the file that the book\'s page of exercises gives under "Take them along".',
        ) from None
    for id, known in read.items():
        note_prediction(id, {name: r.value for name, r in known.items() if r.value is not None and not r.faults})


def _table(rows: Iterable[Row]) -> Table:
    return Table(HEADINGS, ("left",) * len(HEADINGS), tuple(rows))


def progress(taken: str | os.PathLike[str] | None = None) -> Progress:
    """Every question with its state, points, tries and hints opened.

    Args:
        taken: a file from the book's page of exercises, with what was predicted in a browser; what was predicted in
            notebooks before stays.
    Raises:
        ShardlabError: there is no such file, or it holds something else.
    """
    from shardlab_course import own
    from shardlab_course.chapters import QUESTIONS

    own.take_beside()
    if taken is not None:
        _take(pathlib.Path(taken))
    noted = read()["questions"]
    rows = []
    for question in QUESTIONS.values():
        record = noted.get(question.id, {})
        points = f"{record.get('points', 0):g} / {question.points:g}"
        state = SIGNS.get(record.get("status", "unattempted"), "")
        title = question.title + " (optional)" * question.optional
        rows.append((question.id, title, points, str(record.get("tries", 0)), str(record.get("hints", 0)), state))
    earned = {id: noted.get(id, {}).get("points", 0) for id in QUESTIONS}
    core = [q for q in QUESTIONS.values() if not q.optional]
    of_core = sum(earned[q.id] for q in core), sum(q.points for q in core)
    return Progress(tuple(rows), _chapters(earned), of_core, _next(noted), _told(location()))


def _chapters(earned: Mapping[str, float]) -> tuple[tuple[str, float, float], ...]:
    """Of each chapter its number, the points earned in it, and those that there are."""
    from shardlab_course.chapters import QUESTIONS

    found: dict[str, tuple[float, float]] = {}
    for question in QUESTIONS.values():
        chapter = question.id.partition(".")[0]
        before = found.get(chapter, (0.0, 0.0))
        found[chapter] = before[0] + earned[question.id], before[1] + question.points
    return tuple((chapter, *points) for chapter, points in found.items())


def _next(noted: Mapping[str, Any]) -> str:
    """The first exercise of the core behind the last that was passed, or before it, that was not; then an optional one."""
    from shardlab_course.chapters import QUESTIONS

    order = list(QUESTIONS.values())
    passed = [noted.get(q.id, {}).get("status") == "passed" for q in order]
    after = len(passed) - passed[::-1].index(True) if any(passed) else 0
    turned = [*range(after, len(order)), *range(after)]
    still = [order[n] for n in sorted(turned, key=lambda n: order[n].optional) if not passed[n]]
    return f"{still[0].id} {still[0].title}" if still else ""


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
