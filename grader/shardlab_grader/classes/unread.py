"""An exercise whose cell could not be read, or raised, was attempted: its answer is not open, but an error."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shardlab_grader.border.artifact import CellError
from shardlab_grader.border.entries import Entry
from shardlab_grader.classes.notebook import Cell, Job
from shardlab_grader.classes.restore import owners
from shardlab_grader.inside.cells import defined

TYPES = ("SyntaxError", "IndentationError", "TabError")
TOLD = re.compile(rf"^[^\n]*: (?:{'|'.join(TYPES)}): ")
"""Begins what a record has of such an error."""
MISSING, TODO = {"missing": True}, {"todo": True}


def is_unread(error: CellError) -> bool:
    """Whether it says that a cell could not be read."""
    return error.type in TYPES


def with_errors(job: Job, errors: Sequence[CellError], checked: Mapping[str, Any]) -> dict[str, Any]:
    """The answers, where an item that is open is what was said of the cell in which it stands."""
    owner = owners(job.cells)
    unread = [(error, job.cells[error.cell]) for error in errors if error.cell < len(job.cells)]
    return {
        question: {
            "items": {
                name: _entry(job, question, name, entry, [(e, c, owner[e.cell] == question) for e, c in unread])
                for name, entry in answer["items"].items()
            }
        }
        for question, answer in checked.items()
    }


def _entry(job: Job, question: str, name: str, entry: Entry, unread: Sequence[tuple[CellError, Cell, bool]]) -> Entry:
    named = {job.manifests[question]["variable"] or name, name, question}
    for error, cell, mine in unread:
        defines = bool(named & defined(cell.source))
        # A stub that is left elsewhere is open; only a cell that was to replace it says more.
        lost = entry == MISSING and (defines or (mine and is_unread(error)))
        if lost or (_is_open(entry) and defines and is_unread(error)):
            return {"error": {"type": error.type, "message": error.message, "line": error.line}}
    return entry


def _is_open(entry: Entry) -> bool:
    """Whether an entry, or each of its cases, is `...`."""
    parts = next((parts for parts in entry.values() if isinstance(parts, list)), [])
    return entry == TODO or (bool(parts) and all(part == TODO for part in parts))
