"""Notebooks that were handed in as text: what jupytext, nbconvert and MyST make of a notebook, read as cells again.

Each is read in one pass over its lines, because a student chose what they hold. Where cells cannot be told apart, code is
split at the exercises' checks and at blank lines: a cell too many costs nothing, since all of them share their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

CHECK = re.compile(r"""sl\.check\(\s*["']?0*(?P<id>(?P<chapter>\d+)\.\d+)\b""")
"""With which a grade cell begins: `sl.check("4.2"`, or `sl.check(4.2`."""
MARK = re.compile(r"""\bgrade_id["']?\s*[:=]\s*["']?([\w-]+)""")
"""nbgrader's name of a cell, in the options of any of these formats."""
FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<rest>[^`]*)$")
CODE = re.compile(r"\s*\{?(?:code-cell|python3?|ipython3?|py)\b", re.IGNORECASE)
BREAK = re.compile(r"<!-- #(?:end)?region\b(?P<region>.*)-->\s*$|\+\+\+(?P<plus>.*)$")
PERCENT = re.compile(r"# ?%%(?:\s+(?P<options>.*))?$")
LIGHT = re.compile(r"# \+(?P<options>.*)$|# -\s*$")
COUNTED = re.compile(r"# In\s?\[[\d *]*\]:\s*$")
PROSE = re.compile(r"[^\[{]*\[(?:markdown|md|raw)\]")
MAGIC = re.compile(r"^(\s*)# ([%!]\w.*)$")
FIRST = re.compile(r"(?!else\b|elif\b|except\b|finally\b)[^\s)\]}]")
"""What can begin a statement."""
QUOTES, END = ('"""', "'''"), "-"
OPTION = re.compile(r"#\||:[\w-]+:")
FOUND = {
    "py": "Your file was Python text, not a notebook.",
    "md": "Your file was Markdown text, not a notebook.",
}
"""What the page says of a file that was converted."""
ADVICE = "We made a notebook of it and graded that. Check that all of your answers are below."


def cells(text: str) -> list[dict[str, Any]]:
    """The cells of a notebook's text edition, below one that says what was done; none where it holds no exercise's check."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not any(CHECK.match(line) for line in lines):
        return []
    kind = "md" if any((fence := FENCE.match(line)) and CODE.match(fence["rest"]) for line in lines) else "py"
    found = list(_document(_body(lines)) if kind == "md" else _script(_body(lines)))
    return [_cell("markdown", [FOUND[kind], ADVICE]), *(cell for cell in found if cell["source"])]


def _body(lines: list[str]) -> list[str]:
    """The lines below the file's own head."""
    for end in ("---", "# ---"):
        if lines[:1] == [end] and end in lines[1:]:
            return lines[lines.index(end, 1) + 1 :]
    return lines


def _document(lines: list[str]) -> Iterator[dict[str, Any]]:
    """Code stands between fences that name Python; all else is prose."""
    prose: list[str] = []
    options, close, code = "", "", False
    for line in lines:
        if close:
            if line.strip().startswith(close) and not line.strip().strip(close[0]):
                if code:
                    yield from _fenced(prose, options)
                    prose, options = [], ""
                else:
                    prose.append(line)
                close = ""
            else:
                prose.append(line)
        elif fence := FENCE.match(line):
            close, code = fence["fence"], bool(CODE.match(fence["rest"]))
            if code:
                yield _cell("markdown", prose, options)
                prose, options = [], fence["rest"]
            else:
                prose.append(line)
        elif parted := BREAK.match(line):
            yield _cell("markdown", prose, options)
            prose, options = [], parted["region"] or parted["plus"] or ""
        else:
            prose.append(line)
    yield from _fenced(prose, options) if close and code else [_cell("markdown", prose, options)]


def _fenced(lines: list[str], options: str) -> Iterator[dict[str, Any]]:
    """The cells of a fence, whose options may stand in its first lines, as MyST and Quarto have them."""
    start = 0
    if lines[:1] == ["---"] and "---" in lines[1:]:
        start = lines.index("---", 1) + 1
    else:
        while start < len(lines) and OPTION.match(lines[start]):
            start += 1
    return _code(lines[start:], " ".join([options, *lines[:start]]))


def _script(lines: list[str]) -> Iterator[dict[str, Any]]:
    """Cells begin at the marks of jupytext and nbconvert, and where there are none at blank lines."""
    held: list[str] = []
    options, loose, quoted = "", True, False
    for line in lines:
        begins = not held or not held[-1].strip()
        if (mark := _mark(line)) is not None:
            yield from _piece(held, options)
            held, options, loose, quoted = [], mark, mark == END, False
        elif begins and not quoted and (line.rstrip() in QUOTES or (loose and FIRST.match(line))):
            yield from _piece(held, options)
            held, options, quoted = [line], "[markdown]" if line.rstrip() in QUOTES else "", line.rstrip() in QUOTES
        elif quoted and line.rstrip() in QUOTES and options == "[markdown]":
            yield from _piece([*held, line], options)
            held, options, quoted = [], "", False
        else:
            held.append(line)
            quoted ^= sum(map(line.count, QUOTES)) % 2 == 1
    yield from _piece(held, options)


def _mark(line: str) -> str | None:
    """The options of a line that ends a cell and may begin the next one; `None` for any other line."""
    if found := PERCENT.match(line) or LIGHT.match(line):
        return found["options"] or ("" if line.startswith(("# %%", "#%%", "# +")) else END)
    return "" if COUNTED.match(line) or line.strip() in ('""', "''") else None


def _piece(lines: list[str], options: str) -> Iterator[dict[str, Any]]:
    """Comments alone are prose, and so is what says that it is; nbconvert has the prose after a cell below it."""
    if PROSE.match(options):
        yield _cell("markdown", _uncommented(lines), options)
        return
    end = len(lines)
    while end and (lines[end - 1].startswith("#") or not lines[end - 1].strip()):
        end -= 1
    while end and end < len(lines) and lines[end].strip():
        end += 1  # comments that touch the code are its own
    if end or MARK.search(options):
        yield from _code(lines[:end], options)
    yield _cell("markdown", _uncommented(lines[end:]))


def _uncommented(lines: list[str]) -> list[str]:
    inside = [line for line in lines if line.strip() not in QUOTES]
    if not all(line.startswith("#") or not line.strip() for line in inside):
        return inside
    return [re.sub(r"^#+ ?", "", line) if line.startswith(("# ", "##")) else line[1:] for line in inside]


def _code(lines: list[str], options: str) -> Iterator[dict[str, Any]]:
    """One cell, or several where a check stands among other lines: each check begins one, which ends with its call."""
    held: list[str] = []
    for line in lines:
        if CHECK.match(line):
            yield _cell("code", held, options)
            held, options = [line], options if not any(map(str.strip, held)) else ""
        elif held and CHECK.match(held[0]) and line[:1].strip() and not line.startswith(")"):
            yield _cell("code", held, options)
            held, options = [line], ""
        else:
            held.append(MAGIC.sub(r"\1\2", line))
    yield _cell("code", held, options)


def _cell(kind: str, lines: list[str], options: str = "") -> dict[str, Any]:
    """A cell as a notebook's file has it."""
    found = MARK.search(options)
    metadata = {"nbgrader": {"grade_id": found[1]}} if found else {}
    return {"cell_type": kind, "metadata": metadata, "source": "\n".join(lines).strip("\n")}
