"""Tables that a person has filled in: a spreadsheet separates cells and writes numbers as its country does."""

from __future__ import annotations

import csv
import io
import math
import pathlib
import re

FIRST = re.compile(r'(?:"[^"\n]*"|[^",;\t\n]*)([,;\t])')


def between(text: str) -> str:
    """What separates the cells of a table, by the first of its titles."""
    found = FIRST.match(text)
    return found[1] if found else ","


def rows(path: pathlib.Path) -> tuple[list[str], list[dict[str, str]]]:
    """The titles of a table's columns, and its rows; what a row lacks is empty.

    Raises:
        UnicodeDecodeError, csv.Error: it is not CSV in UTF-8.
    """
    text = path.read_bytes().decode("utf-8-sig")
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=between(text), restval="")
    found = [{title: cell.strip() for title, cell in row.items() if isinstance(title, str)} for row in reader]
    return list(reader.fieldnames or ()), found


def number(text: str) -> float:
    """A number with a point or a comma; NaN, which is in no interval, where it is none."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan
