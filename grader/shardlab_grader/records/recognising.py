"""Whose exercises a notebook holds: those of the assignment that it was handed in as, another chapter's, or none."""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
import pathlib
import re
from typing import Any

from shardlab_grader.records.files import MOST_BYTES, READ, is_file, read_file
from shardlab_grader.records.forms import Unreadable, grade_id, handed_in
from shardlab_grader.records.texts import CHECK

BOUND = re.compile(r"^(?:def\s+(\w+)|(\w+)\s*=(?!=))", re.MULTILINE)
NAMED = re.compile(r"q(?P<chapter>\d+)-\d+")


@dataclasses.dataclass(frozen=True)
class Exercises:
    """What a notebook has of its assignment's exercises: the questions of its checks, its grade ids, names of answers.

    `given` are the texts of all cells with code, as they were released.
    """

    assignment: str
    questions: frozenset[str]
    names: frozenset[str]
    answers: frozenset[str]
    given: frozenset[str] = frozenset()

    def check(self, form: bytes, others: list[str]) -> None:
        """Do nothing where a handed-in form has exercises of this assignment.

        Args:
            others: the names of all assignments, by which another chapter is called.
        Raises:
            Unreadable: it has another chapter's, or none.
        """
        cells = json.loads(form)["cells"]
        if self.has(cells):
            return
        chapters = collections.Counter(chapter for cell in cells for chapter in _chapters(cell))
        if not chapters:
            what = f"not a notebook of {self.assignment}: it holds no exercise of that assignment; ask for the right file."
            raise Unreadable(what)
        (chapter, _), *_ = chapters.most_common(1)
        name = next((other for other in others if re.match(rf"0*{chapter}_", other)), "")
        where = f"if it was meant for that, move it to submitted/STUDENT/{name}" if name else "ask for the right file"
        called = f"chapter {chapter}" + f", {name}" * bool(name)
        raise Unreadable(f"another chapter's: it holds the exercises of {called}, but none of {self.assignment}; {where}.")

    def form_of(self, path: pathlib.Path) -> bytes:
        """The handed-in form of a file that holds exercises of this assignment, whatever it is called; else nothing."""
        try:
            if path.suffix.lower().strip() not in ("", *READ) or not is_file(path):  # some downloads have no ending
                return b""
            form = handed_in(read_file(path, MOST_BYTES))
        except (OSError, Unreadable):
            return b""
        return form if self.has(json.loads(form)["cells"]) else b""

    def untouched(self, form: bytes) -> bool:
        """Whether all code in a handed-in form is as it was released."""
        code = [cell["source"].strip() for cell in json.loads(form)["cells"] if cell["cell_type"] == "code"]
        return {*code} <= self.given

    def chapter_of(self, content: bytes) -> str:
        """This assignment, the number of another chapter, or nothing where that cannot be told."""
        try:
            cells = json.loads(handed_in(content))["cells"]
        except Unreadable:
            return ""
        if self.has(cells):
            return self.assignment
        return next((chapter for cell in cells for chapter in _chapters(cell)), "")

    def has(self, cells: list[dict[str, Any]]) -> bool:
        """Whether cells have a check, a grade id or, where no chapter's check is left, an answer of this assignment."""
        asked = _asked(cells)
        if asked & self.questions or {grade_id(cell["metadata"]) for cell in cells} & self.names:
            return True
        bound = {found[1] or found[2] for cell in cells for found in BOUND.finditer(cell["source"])}
        return not asked and bool(bound & self.answers)


def exercises(course_dir: pathlib.Path, assignment: str) -> Exercises | None:
    """Those of a release; nothing where it is not there."""
    path = course_dir / "release" / assignment / f"{assignment}.ipynb"
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else None


@functools.lru_cache(maxsize=32)
def _read(path: pathlib.Path, written: int) -> Exercises | None:
    try:
        cells = [{**cell, "source": "".join(cell["source"])} for cell in json.loads(path.read_bytes())["cells"]]
    except (ValueError, KeyError, TypeError):
        return None  # a damaged release is told of by who loads it
    questions = frozenset(_asked(cells))
    names = {cell["source"]: grade_id(cell["metadata"]) for cell in cells}
    written_in = [source for source, name in names.items() if name and not CHECK.match(source.lstrip())]
    answers = frozenset(found[1] or found[2] for source in written_in for found in BOUND.finditer(source))
    given = frozenset(cell["source"].strip() for cell in cells if cell["cell_type"] == "code")
    return Exercises(path.stem, questions, frozenset(filter(None, names.values())), answers, given)


def _asked(cells: list[dict[str, Any]]) -> set[str]:
    """The exercises whose checks are among the cells."""
    return {found["id"] for cell in cells if (found := CHECK.match(cell["source"].lstrip()))}


def _chapters(cell: dict[str, Any]) -> list[str]:
    """The numbers of the chapters whose checks or grade ids a cell has."""
    check, named = CHECK.match(cell["source"].lstrip()), NAMED.match(grade_id(cell["metadata"]))
    return [match["chapter"] for match in (check, named) if match]
