"""A submitted notebook with everything but the student's text taken from the release.

nbgrader's own steps for this stop the class at a duplicated cell and lose a question whose grade cell was deleted.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from shardlab_course.editions.edition import GRADE
from shardlab_grader.classes.notebook import Cell
from shardlab_grader.inside import shown
from shardlab_grader.inside.cells import defined
from shardlab_grader.records.forms import grade_id

SHOW = "show"
"""The tag of a given cell that only shows something."""


def restore(submitted: NotebookNode, released: NotebookNode) -> NotebookNode:
    """The student's cells in the student's order, without outputs, with the release's grade cells and metadata.

    Only a cell's type, text and ids are believed. Of a duplicated answer or grade cell the last counts. A grade cell that
    lost its metadata is known by its source; what else stands in one becomes a cell before it. Grade cells and given code
    cells that are missing are put back where they were. Where an answer's cells are as they were released, and the student
    wrote it below its grade cell, the grade cell goes below it.
    """
    ours = {name: cell for cell in released.cells if (name := _grade_id(cell))}
    cells = [cell for cell in submitted.get("cells", []) if _is_cell(cell)]
    named = [_believed(cell, ours) for cell in cells]
    found = set(named)
    named = [name or _by_source(cell, ours, found) for name, cell in zip(named, cells)]
    last = {name: position for position, name in enumerate(named) if name}
    rebuilt: list[NotebookNode] = []
    for position, (cell, name) in enumerate(zip(cells, named)):
        stands_for = ours[name] if name and last[name] == position else None
        rebuilt += _cells(cell, stands_for, position)
    _put_back(rebuilt, released, cells)
    _ask_below(rebuilt, released)
    return nbformat.v4.new_notebook(metadata=copy.deepcopy(released.metadata), cells=rebuilt)


def job_cells(notebook: NotebookNode, released: NotebookNode | None = None) -> list[Cell]:
    """The code cells in order, as the sandbox takes them.

    Args:
        released: the release, where given cells that only show something may be left out; all run without it.
    """
    given = _given(released) if released else {}
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [Cell(cell.source, _question(cell), *given.get(cell.source, ())) for cell in cells]


def is_manual(cell: NotebookNode) -> bool:
    """Whether a person grades what the student writes in it."""
    return bool(is_grade(cell) and is_solution(cell))


def owners(cells: Sequence[Cell]) -> list[str | None]:
    """For each cell the question whose grade cell comes next."""
    found: list[str | None] = []
    following: str | None = None
    for cell in reversed(cells):
        following = cell.question or following
        found.append(following)
    return found[::-1]


def _given(released: NotebookNode) -> dict[str, tuple[tuple[str, ...], tuple[str, ...] | None]]:
    """By the text of a given cell the names that it reads, and those that it binds when it is tagged."""
    cells = [cell for cell in released.cells if cell.cell_type == "code" and not _grade_id(cell)]
    return {c.source: (_reads(c.source), _binds(c.source) if SHOW in c.metadata.get("tags", []) else None) for c in cells}


@functools.cache
def _reads(text: str) -> tuple[str, ...]:
    return tuple(sorted(shown.given(text)))


@functools.cache
def _binds(text: str) -> tuple[str, ...]:
    return tuple(sorted(shown.bound(text)))


def _question(cell: NotebookNode) -> str | None:
    match = GRADE.match(cell.source)
    return match[1] if match and is_grade(cell) else None


def _grade_id(cell: NotebookNode) -> str | None:
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _is_cell(cell: Any) -> bool:
    kinds = ("code", "markdown", "raw")
    return isinstance(cell, dict) and cell.get("cell_type") in kinds and isinstance(cell.get("source"), str)


def _believed(cell: NotebookNode, ours: dict[str, NotebookNode]) -> str | None:
    name = grade_id(cell.get("metadata"))
    return name if name in ours else None


def _by_source(cell: NotebookNode, ours: dict[str, NotebookNode], found: set[str | None]) -> str | None:
    match = GRADE.match(cell["source"])
    if not match or cell["cell_type"] != "code":
        return None
    name = "q" + match[1].replace(".", "-")
    return name if name in ours and name not in found else None


def _cells(cell: NotebookNode, released: NotebookNode | None, position: int) -> list[NotebookNode]:
    """What becomes of one cell, given the release's cell that it stands for, if any."""
    own = _new(cell["cell_type"], cell["source"], f"cell-{position}")
    if released is None:
        return [own]
    rebuilt = copy.deepcopy(released)
    if not is_grade(released) or is_manual(released):
        rebuilt.source = cell["source"]
        return [rebuilt]
    own.source = cell["source"].replace(released.source.strip(), "").strip()
    return [own, rebuilt] if own.source else [rebuilt]


def _new(kind: str, source: str, id: str) -> NotebookNode:
    # nbformat's own makers check each cell against the whole schema.
    cell = NotebookNode(cell_type=kind, source=source, id=id, metadata=NotebookNode())
    if kind == "code":
        cell.update(outputs=[], execution_count=None)
    return cell


def _put_back(cells: list[NotebookNode], released: NotebookNode, submitted: Sequence[Any]) -> None:
    """Insert what is missing, each after the nearest cell that came before it in the release.

    Where there is none, given cells go to the beginning, and grade cells to the end.
    """
    matched = _matched(cells, released, submitted)
    places: dict[tuple[str, str], NotebookNode] = {}
    for cell in cells:
        _enter(places, cell)
    before: NotebookNode | None = None
    theirs: NotebookNode | None = None
    for cell in released.cells:
        given = _is_given(cell)
        there = matched.get(cell.id) if given else places.get(_marks(cell)[0])
        if there is None and given:
            there = copy.deepcopy(cell)
            cells.insert(_after(before, cells, 0), there)
            _enter(places, there)
            before = there
            continue
        if there is None and is_grade(cell):
            there = copy.deepcopy(cell)
            cells.insert(_after(theirs, cells, len(cells)), there)
            _enter(places, there)
        before, theirs = (before, theirs) if there is None else (there, there)


def _ask_below(cells: list[NotebookNode], released: NotebookNode) -> None:
    """Move a grade cell below the answer that stands after it, while the cells for that answer are untouched."""
    ours = {cell.source for cell in released.cells}
    stubs: list[NotebookNode] = []
    for cell in released.cells:
        if is_grade(cell) and not is_manual(cell):
            check = next(other for other in cells if _grade_id(other) == _grade_id(cell))
            if all(
                stub.source in {other.source for other in cells if _grade_id(other) == _grade_id(stub)} for stub in stubs
            ):
                _move(cells, check, set[str]().union(*(defined(stub.source) for stub in stubs)), ours)
            stubs = []
        elif is_solution(cell):
            stubs.append(cell)


def _move(cells: list[NotebookNode], check: NotebookNode, names: set[str], ours: set[str]) -> None:
    """To below the last cell of the student's own that defines one of these names, above the release's next that does."""
    start = next(n for n, cell in enumerate(cells) if cell is check)
    last = start
    for n in range(start + 1, len(cells)):
        if cells[n].cell_type == "code" and names & defined(cells[n].source):
            if _grade_id(cells[n]) or cells[n].source in ours:
                break
            last = n
    cells.insert(last, cells.pop(start))


def _matched(cells: list[NotebookNode], released: NotebookNode, submitted: Sequence[Any]) -> dict[str, NotebookNode]:
    """By the id of a given code cell the student's cell that it is: the one with its id, or else the next with its text.

    A chapter may have the same cell several times.
    """
    ids = {f"cell-{position}": cell.get("id") for position, cell in enumerate(submitted)}
    given = [cell for cell in released.cells if _is_given(cell)]
    known = {cell.id for cell in given}
    own = [cell for cell in cells if not _grade_id(cell)]
    matched = {ids[cell.id]: cell for cell in own[::-1] if ids.get(cell.id) in known}
    others = [cell for cell in own if ids.get(cell.id) not in known]
    waiting: dict[str, list[NotebookNode]] = {}
    for cell in others[::-1]:
        waiting.setdefault(cell.source.strip(), []).append(cell)
    for cell in given:
        if cell.id not in matched and waiting.get(cell.source.strip()):
            matched[cell.id] = waiting[cell.source.strip()].pop()
    return matched


def _is_given(cell: NotebookNode) -> bool:
    return bool(cell.cell_type == "code" and not _grade_id(cell))


def _enter(places: dict[tuple[str, str], NotebookNode], cell: NotebookNode) -> None:
    for mark in _marks(cell):
        places.setdefault(mark, cell)


def _marks(cell: NotebookNode) -> list[tuple[str, str]]:
    """By what a cell of the release is known: by its grade id if it has one, or else by its text."""
    name = _grade_id(cell)
    text = ("text", cell.source.strip())
    return [("id", name), text] if name else [text]


def _after(before: NotebookNode | None, cells: Sequence[NotebookNode], otherwise: int) -> int:
    return next((i + 1 for i, cell in enumerate(cells) if cell is before), otherwise)
