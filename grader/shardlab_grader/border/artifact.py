"""The border: what came out of a sandbox, read as hostile bytes, becomes checked answers or reasons for refusing them.

The lines of the file are described in `inside/runner.py`. A line that breaks the rules is left out, and an item's entry that
does is replaced by an error that says which; neither costs the other items. Of two entries for one item the first counts.
Answers from a notebook that has other names for mesh axes leave this place in the course's names.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import stat
from collections.abc import Mapping
from typing import Any

from shardlab_course.variants import translated
from shardlab_grader.border.entries import Entry, entry, error_of, refused
from shardlab_grader.border.entries import Refused as Refused
from shardlab_grader.border.entries import said as said

Manifests = Mapping[str, Mapping[str, Any]]
FILE, LINE, LINES = 16 * 2**20, 4 * 2**20, 50_000
ERRORS = 100


@dataclasses.dataclass(frozen=True)
class CellError:
    """An exception that a cell raised; `cell` is its index, from 0; `line` is where, in lines of the student's own."""

    cell: int
    type: str
    message: str
    line: str = ""


@dataclasses.dataclass(frozen=True)
class Recording:
    """What a notebook's run left behind.

    `answers` is `{question: {"items": {name: entry}}}` and may lack questions and items that were not reached. `cell` is the
    last cell that was reached; `ended` says whether the run came to its end; `faults` are the reasons of left out lines.
    """

    answers: dict[str, dict[str, dict[str, Entry]]]
    errors: tuple[CellError, ...] = ()
    cell: int | None = None
    ended: bool = False
    faults: tuple[str, ...] = ()


def read(output: bytes, manifests: Manifests, cells: int) -> Recording:
    """The recording in the bytes of an output file.

    Args:
        manifests: by question id; nothing else is accepted.
        cells: how many cells the notebook has.
    """
    found = _Found(manifests, cells)
    for line in output.split(b"\n", LINES)[:LINES]:
        if line.strip():
            found.add(line)
    return found.recording()


def content(path: pathlib.Path, most: int = FILE) -> bytes:
    """The first `most` bytes of an ordinary file with one name; links are not followed.

    Raises:
        Refused: it is something else.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(f"the output file cannot be opened: {error.strerror}") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        os.close(descriptor)
        raise Refused("the output is not an ordinary file")
    with open(descriptor, "rb") as file:
        return file.read(most)


def parse(line: bytes, most: int = LINE) -> dict[str, Any]:
    """One JSON object without repeated keys, NaN or infinity.

    Raises:
        Refused: the bytes are something else.
    """
    if len(line) > most:
        raise Refused(f"a line has more than {most} bytes")
    try:
        found = json.loads(line.decode(), object_pairs_hook=_once, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(f"a line is not JSON as we read it: {said(str(error), 100)}") from error
    if not isinstance(found, dict):
        raise Refused("a line is not a JSON object")
    return found


class _Found:
    def __init__(self, manifests: Manifests, cells: int) -> None:
        self._items = {id: {item["name"]: item for item in m["items"]} for id, m in manifests.items()}
        self._names = {id: m.get("axes", {}) for id, m in manifests.items()}
        self._cells = cells
        self._answers: dict[str, dict[str, dict[str, Entry]]] = {}
        self._errors: list[CellError] = []
        self._faults: list[str] = []
        self._cell: int | None = None
        self._ended = False

    def add(self, line: bytes) -> None:
        try:
            self._take(parse(line))
        except Refused as refusal:
            self._faults.append(str(refusal))

    def recording(self) -> Recording:
        answers = {id: translated(answer, self._names[id]) for id, answer in self._answers.items()}
        return Recording(answers, tuple(self._errors[:ERRORS]), self._cell, self._ended, tuple(self._faults[:ERRORS]))

    def _take(self, line: dict[str, Any]) -> None:
        match line:
            case {"cell": index, **rest} if not rest:
                self._cell = self._index(index)
            case {"error": {"cell": index, **error}, **rest} if not rest:
                cut = error_of(error)
                self._errors.append(CellError(self._index(index), **cut))
            case {"question": str(question), "item": str(name), "entry": raw, **rest} if not rest:
                self._enter(question, name, raw)
            case {"end": True, **rest} if not rest:
                self._ended = True
            case _:
                raise Refused("a line has fields that are not in the protocol")

    def _index(self, index: Any) -> int:
        if type(index) is not int or not 0 <= index < self._cells:
            raise Refused("a line names a cell that does not exist")
        return index

    def _enter(self, question: str, name: str, raw: Any) -> None:
        item = self._items.get(question, {}).get(name)
        if item is None:
            raise Refused("a line names a question or an item that was not asked")
        entries = self._answers.setdefault(question, {"items": {}})["items"]
        try:
            checked = entry(item, raw)
        except Refused as refusal:
            checked = refused(str(refusal))
        entries.setdefault(name, checked)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
