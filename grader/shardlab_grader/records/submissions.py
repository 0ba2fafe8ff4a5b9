"""What lies in `submitted/`: for each student the notebook's cells, or the reason why there is nothing to grade.

Nothing else of a student's files goes further: a notebook becomes its *handed-in form*, with each cell's type, text, id and
grade id and no more, in one way of writing. It is what keys, sandboxes and nbgrader are given, and is made once.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import stat
import tempfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

import nbformat
from nbformat import NotebookNode

from shardlab_grader.plain import plain

MOST_BYTES, MOST_CELLS = 64_000_000, 10_000
"""Of a file with its outputs, which Python needs some thirty times as many bytes to read; and of its cells."""
MOST_TEXT = 20_000_000
"""Bytes of a handed-in form, which has no outputs."""
TIMESTAMP_BYTES = 200
MOST_OTHERS = 20
SECRET = re.compile(rb"[!-~]{1,200}")
"""What nbgrader's exchange puts beside a submission, so that its student alone finds the feedback again."""
KINDS = {"code": "code", "markdown": "markdown", "raw": "raw", "heading": "markdown", "html": "markdown"}
PIECE = re.compile(
    r'\{\s*"(?:attachments|cells|cell_type|collapsed|execution_count|id|input|metadata|nbformat|outputs|source|worksheets)"\s*:'
)
FAILURES = 100
"""Pieces of a broken file that are looked at in vain; each can cost a pass over the file."""
MEMORY = 64 * 2**20
"""Bytes of a class that are held in memory, compressed: more than ordinary ones take."""


@dataclasses.dataclass(frozen=True)
class Submission:
    """One student's notebook of one assignment: its handed-in form, or the `problem` in one sentence.

    `key` is that of the verdict on it, where one was asked for. `note` says what beside the notebook could not be read.
    """

    student: str
    content: bytes = b""
    problem: str = ""
    key: str = ""
    note: str = ""


class Unreadable(Exception):
    """Why a submission cannot be graded, in one sentence."""


class Contents:
    """Handed-in forms by key. What is more than `MEMORY` lies on the disk, in a file that has no name."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(MEMORY)
        self._places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Contents:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def keep(self, one: Submission) -> Submission:
        """The submission without its content."""
        if not one.problem and one.key not in self._places:
            packed = zlib.compress(one.content, 1)
            self._places[one.key] = self._file.seek(0, os.SEEK_END), len(packed)
            self._file.write(packed)
        return dataclasses.replace(one, content=b"")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, name: str) -> bytes:
        start, length = self._places[name]
        self._file.seek(start)
        return zlib.decompress(self._file.read(length))


def submissions(course_dir: pathlib.Path, assignment: str, student: str = "*") -> list[Submission]:
    """Every student's submission, by student; each ends up graded or with a reason."""
    return list(each(course_dir, assignment, student))


def each(course_dir: pathlib.Path, assignment: str, student: str = "*") -> Iterator[Submission]:
    """The same, read one at a time."""
    for folder in sorted((course_dir / "submitted").glob(f"{student}/{assignment}")):
        yield _submission(folder, assignment)


def stage(
    course_dir: pathlib.Path, assignment: str, student: str, target: pathlib.Path, content: bytes | None = None
) -> None:
    """Put the handed-in form, its time and the exchange's secret into a folder, and nothing else; no link.

    Args:
        content: the handed-in form; made now unless given.
    Raises:
        Unreadable: there is nothing to grade.
    """
    folder = course_dir / "submitted" / student / assignment
    _check_folders(folder)
    content = _content(folder, assignment) if content is None else content
    timestamp, _ = _timestamp(folder / "timestamp.txt")
    target.mkdir(parents=True)
    (target / f"{assignment}.ipynb").write_bytes(content)
    if timestamp:
        (target / "timestamp.txt").write_text(timestamp)
    if secret := _secret(folder / "submission_secret.txt"):
        (target / "submission_secret.txt").write_bytes(secret)


def handed_in(content: bytes) -> bytes:
    """The handed-in form of a notebook's file; of itself it is the same.

    A file of another encoding or format is read all the same, and of a broken one whatever cells can be found.

    Raises:
        Unreadable: these bytes are not a notebook.
    """
    cells = [cell for raw in _cells(_text(content)) if (cell := _cell(raw))]
    if len(cells) > MOST_CELLS:
        raise Unreadable(f"unreadable: the notebook has {len(cells):,} cells; the limit is {MOST_CELLS:,}.")
    for number, cell in enumerate(cells):
        cell.setdefault("id", f"cell-{number}")
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    form = json.dumps(notebook, sort_keys=True, indent=1).encode()
    if len(form) > MOST_TEXT:
        raise Unreadable(f"unreadable: its cells have {len(form):,} bytes of text; the limit is {MOST_TEXT:,}.")
    return form


def parse(form: bytes) -> NotebookNode:
    """The notebook of a handed-in form, with whatever cells it has."""
    return nbformat.from_dict(json.loads(form))


def _text(content: bytes) -> str:
    try:
        return content.decode(json.detect_encoding(content)).lstrip("\ufeff")
    except UnicodeDecodeError:
        # Some old editor's: all that is code is ASCII there too.
        return content.decode("cp1252", errors="replace")


def _cells(text: str) -> list[Any]:
    if not text.strip():
        raise Unreadable("not a notebook: the file is empty; ask for it once more.")
    try:
        return _listed(json.loads(text))
    except (ValueError, RecursionError) as error:
        found = _salvaged(text)
        if not found:
            raise Unreadable(f"not a notebook: {_said(error)}.") from None
        return found


def _listed(raw: Any) -> list[Any]:
    """The cells of any version of the format."""
    match raw:
        case {"cells": list(cells)}:
            return cells
        case {"worksheets": list(sheets)}:
            return [cell for sheet in sheets if isinstance(sheet, dict) for cell in _listed({"cells": sheet.get("cells")})]
    raise Unreadable("not a notebook: it has no list of cells.")


def _salvaged(text: str) -> list[Any]:
    """What can be read of a file that broke off, or that a merge, a download or an editor damaged."""
    decoder, found, failures, at = json.JSONDecoder(), [], 0, 0
    while failures < FAILURES and (match := PIECE.search(text, at)):
        try:
            piece, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            failures, at = failures + 1, match.start() + 1
            continue
        if "cells" in piece or "worksheets" in piece:
            return _listed(piece)
        found.append(piece)
    return [piece for piece in found if "cell_type" in piece]


def _cell(raw: Any) -> dict[str, Any] | None:
    """A cell without all that is not the student's words; nothing when it has none."""
    if not isinstance(raw, dict):
        return None
    source = raw.get("source", raw.get("input"))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    name = grade_id(raw.get("metadata"))
    if not source.strip() and not name:
        return None
    kind = KINDS.get(str(raw.get("cell_type")).lower(), "code" if "outputs" in raw else "raw")
    cell: dict[str, Any] = {"cell_type": kind, "source": _whole(source), "metadata": {}}
    if name:
        cell["metadata"] = {"nbgrader": {"grade_id": name}}
    if isinstance(id := raw.get("id"), str) and re.fullmatch(r"[\w-]{1,64}", id, re.ASCII):
        cell["id"] = id
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def grade_id(metadata: Any) -> str:
    """The grade id that a cell claims, or the empty text."""
    for key in ("nbgrader", "grade_id"):
        metadata = metadata.get(key) if isinstance(metadata, dict) else None
    return _whole(metadata)[:200] if isinstance(metadata, str) else ""


def _whole(text: str) -> str:
    """Text that can be written as UTF-8: without halves of characters."""
    return text.encode("utf-8", "replace").decode()


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:150].rstrip(".")


def _submission(folder: pathlib.Path, assignment: str) -> Submission:
    student = folder.parent.name
    try:
        content = _content(folder, assignment)
    except Unreadable as error:
        return Submission(student, problem=str(error))
    return Submission(student, content, note=_timestamp(folder / "timestamp.txt")[1])


def _content(folder: pathlib.Path, assignment: str) -> bytes:
    name = f"{assignment}.ipynb"
    _check_folders(folder)
    try:
        others = [other for other in sorted(folder.glob("*.ipynb")) if other.name != name]
        if not _is_file(folder / name):
            fitting = [found for other in others[:MOST_OTHERS] if (found := _of_chapter(other, assignment))]
            if len(fitting) == 1:
                return fitting[0]
        if os.path.lexists(folder / name):
            return handed_in(_file(folder / name, MOST_BYTES))
    except OSError as error:
        raise Unreadable(f"unreadable: {name}: {error.strerror}.") from None
    if texts := [other.name for other in sorted(folder.glob("*.md")) if _is_file(other)]:
        mend = f"ask for the .ipynb, or make it in that folder: jupytext --to ipynb --output {name} {plain(texts[0])}."
        raise Unreadable(f"missing notebook: {plain(texts[0])} is a text; {mend}")
    wrong = f"wrong name: {', '.join(plain(other.name) for other in others[:3])} instead of {name}."
    raise Unreadable(wrong if others else f"missing notebook: there is no {name}.")


def _check_folders(folder: pathlib.Path) -> None:
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise Unreadable(f"unreadable: the folder {plain(place.name)} is a link.")


def _of_chapter(path: pathlib.Path, assignment: str) -> bytes | None:
    """The handed-in form of a notebook under another name, if it is this assignment's: if it has its grade cells."""
    try:
        content = handed_in(_file(path, MOST_BYTES)) if _is_file(path) else b"{}"
    except Unreadable:
        return None
    chapter = re.match(r"0*(\d+)_", assignment)
    asked = re.compile(rf"""\s*sl\.check\(\s*["']{chapter[1]}\.\d+["']""" if chapter else "(?!)")
    return content if any(asked.match(cell["source"]) for cell in json.loads(content).get("cells", [])) else None


def _is_file(path: pathlib.Path) -> bool:
    return os.path.lexists(path) and stat.S_ISREG(path.lstat().st_mode)


def _file(path: pathlib.Path, most: int) -> bytes:
    """The bytes of an ordinary file. Links are not followed, and nothing that is no file is opened for reading."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(f"unreadable: {path.name} is not a regular file.")
    if status.st_size > most:
        raise Unreadable(f"unreadable: {path.name} has {status.st_size:,} bytes; the limit is {most:,}.")
    return path.read_bytes()


def _timestamp(path: pathlib.Path) -> tuple[str, str]:
    """When it was handed in, or else why that cannot be said: then nothing is late."""
    # nbgrader drops a submission whose timestamp it cannot read, without saying so.
    from nbgrader.utils import parse_utc

    if not os.path.lexists(path):
        return "", ""
    try:
        text = _file(path, TIMESTAMP_BYTES).decode().strip()
        if text:
            parse_utc(text)
    except Exception as error:
        return "", f"counted as in time; {plain(_said(error))}" + " (timestamp.txt)" * (not isinstance(error, Unreadable))
    return text, ""


def _secret(path: pathlib.Path) -> bytes:
    try:
        found = _file(path, 200) if os.path.lexists(path) else b""
    except (OSError, Unreadable):
        return b""
    return found if SECRET.fullmatch(found) else b""
