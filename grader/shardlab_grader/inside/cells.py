"""Cells as their writers know them: by their first line of code, and, where Python cannot read them, by the line at fault.

Of a cell that Python cannot read, the statements that it can read run all the same: one missing colon would otherwise take
all answers of the cell along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

FIRST = re.compile(r"(?!(?:else|elif|except|finally)\b)[^\s)\]}#]")
"""What can begin a statement."""
QUOTES = ('"""', "'''")
ASIDE = ("#", "%", "@", "import ", "from ", '"""')
"""What a cell's first line may begin with and say little."""
WIDTH = 60
DEFINED = re.compile(r"^[ \t]*(?:(?:async +)?def|class)[ \t]+(\w+)|^[ \t]*(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
PREDICTED = re.compile(r"""\bsl\.predict\([ \t\n]*["']?0*(\d+\.\d+)\b""")
MOST = 2000
"""Lines of a cell that are looked at one by one."""


def label(source: str) -> str:
    """A cell's name in messages: its first line that does something."""
    lines = [line.strip() for line in source.split("\n", MOST)[:MOST]]
    first = next((line for line in lines if line and not line.startswith(ASIDE)), next(filter(None, lines), ""))
    if len(first) > WIDTH:
        # At a blank: names are hidden later, and half a name would not be known.
        first = f"{first[: WIDTH - 3].rpartition(' ')[0]} ..."
    return f'cell "{first}"'


def defined(source: str) -> set[str]:
    """What a cell defines, by its text alone: names at the beginnings of lines, and the exercises that it predicts for."""
    return {found[1] or found[2] for found in DEFINED.finditer(source)} | set(PREDICTED.findall(source))


def readable(source: str, compiles: Callable[[str], SyntaxError | None]) -> tuple[str, list[SyntaxError]]:
    """The cell with a comment for each line that cannot be read, and the error of each such statement.

    Args:
        compiles: the error of a text, or `None` where it can be read.
    """
    lines = source.split("\n")
    errors: list[SyntaxError] = []
    if len(lines) > MOST:
        return "", []
    kept = list(lines)
    for start, end in _statements(lines):
        error = compiles("\n".join(lines[start:end]))
        if error is not None:
            error.lineno = start + (error.lineno or 1)
            errors.append(error)
            kept[start:end] = ["#"] * (end - start)  # no blank lines, which IPython would not count at a cell's beginning
    return "\n".join(kept), errors


def told(error: SyntaxError, source: str) -> str:
    """The line of an error, with a caret below what cannot be read."""
    lines = source.split("\n")
    if not error.lineno or error.lineno > len(lines):
        return ""
    line = lines[error.lineno - 1]
    left = len(line) - len(line.lstrip())
    caret = max(0, (error.offset or 1) - 1 - left)
    return f"line {error.lineno}\n    {line.strip()}\n    {' ' * min(caret, len(line.strip()))}^"


def _statements(lines: list[str]) -> Iterator[tuple[int, int]]:
    """From which line to which each statement at the margin goes; what stands in quotes over several lines begins none."""
    start, quoted, decorated = 0, False, False
    for number, line in enumerate(lines):
        if number and not quoted and not decorated and FIRST.match(line):
            yield start, number
            start = number
        decorated = not quoted and (line.startswith("@") or (decorated and not FIRST.match(line)))
        quoted ^= sum(line.count(quote) for quote in QUOTES) % 2 == 1
    yield start, len(lines)
