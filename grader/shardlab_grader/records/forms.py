"""The *handed-in form* of a notebook's file: each cell's type, text, id and grade id and no more, in one way of writing.

It is what keys, sandboxes and nbgrader are given. It is made of any file in which a student's cells can be found.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

import nbformat
from nbformat import NotebookNode

from shardlab_grader.records import texts

MOST_CELLS = 10_000
MOST_TEXT = 20_000_000
"""Bytes of a handed-in form, which has no outputs."""
KINDS = {"code": "code", "markdown": "markdown", "raw": "raw", "heading": "markdown", "html": "markdown"}
PIECE = re.compile(
    r'\{\s*"(?:attachments|cells|cell_type|collapsed|execution_count|id|input|metadata|nbformat|outputs|source|worksheets)"\s*:'
)
OTHERS = {
    "%PDF": "a PDF",
    "PK\x03\x04": "an archive or a word processor's document",
    "\x1f‹": "an archive",  # gzip's two bytes, as Windows-1252 reads them
    "7z¼¯": "an archive",
    "Rar!": "an archive",
    "<": "a web page",
    "version https://git-lfs": "a pointer of Git LFS, which stands for a file that was not handed in",
    "\0": "made of zero bytes, like a file in a synchronised folder that was never downloaded",
}
"""How files begin that go by the name of a notebook, and what they are."""
FAILURES = 100
"""Pieces of a broken file that are looked at in vain; each can cost a pass over the file."""


class Unreadable(Exception):
    """Why a submission cannot be graded, in one sentence."""


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
        return content.decode("utf-8", errors="windows")


def _windows(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not UTF-8 as an old editor on Windows meant them, each by itself: the rest of the file may be UTF-8."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", errors="replace"), error.end


codecs.register_error("windows", _windows)


def _cells(text: str) -> list[Any]:
    if not text.strip():
        raise Unreadable("not a notebook: the file is empty; ask for it once more.")
    try:
        return _listed(json.loads(text, parse_int=_number))
    except (ValueError, RecursionError) as error:
        found = texts.cells(text) or _salvaged(text)
        if not found:
            other = next((what for begins, what in OTHERS.items() if text.startswith(begins)), "")
            what = f"the file is {other}; ask for the notebook" if other else said(error)
            raise Unreadable(f"not a notebook: {what}.") from None
        return found


def _number(digits: str) -> int:
    """Only outputs have numbers, and nothing reads them: Python refuses to read one of more than 4,300 digits."""
    return int(digits[:20])


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
    decoder, found, failures, at = json.JSONDecoder(parse_int=_number), [], 0, 0
    while failures < FAILURES and (match := PIECE.search(text, at)):
        try:
            piece, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            failures, at = failures + 1, match.start() + 1
            continue
        if "cells" in piece or "worksheets" in piece:
            return _listed(piece)
        found.append(piece)
    return [piece for piece in found if "cell_type" in piece and ("source" in piece or "input" in piece)]


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


def said(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:150].rstrip(".")
