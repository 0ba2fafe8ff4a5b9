"""Text of a student's choosing without what a terminal, a spreadsheet or a browser would obey."""

from __future__ import annotations

import re
import shlex


def plain(text: str, keep: str = "") -> str:
    """The text with a mark in place of each escape, control character and mark of direction.

    Args:
        keep: control characters that stay.
    """
    return "".join(c if c.isprintable() or c in keep else "\ufffd" for c in text)


def inert(text: str) -> str:
    """Text for a cell of a spreadsheet, which runs no formula in it, even where it splits the cell at lines or at `;`."""
    return re.sub(r"(^|[;\t\r\n])([ \"']*)(?=[=+\-@])", r"\1\2'", text)


def quoted(text: str) -> str:
    """One word for bash, of printable characters alone, whatever the text has."""
    if text.isprintable():
        return shlex.quote(text)
    kept = {"'": "\\'", "\\": "\\\\"}
    codes = (
        c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape")) for c in text
    )
    return f"$'{''.join(kept.get(c, c) for c in codes)}'"
