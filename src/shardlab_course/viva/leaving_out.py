"""A student's cell without one of its collectives."""

from __future__ import annotations

import ast
import dataclasses

SAME_SHAPE = ("psum", "pmean", "pmax", "pmin", "ppermute")
"""Calls that can be replaced by their first argument."""


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """The cell's text without the call, the call's name, and its line with its number, from 1 in the cell."""

    source: str
    name: str
    line: str


def without_one(source: str) -> list[LeftOut]:
    """The cell without each of its collectives in turn; nothing of a cell that Python cannot read."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    calls = sorted((n for n in ast.walk(tree) if isinstance(n, ast.Call)), key=lambda n: (n.lineno, n.col_offset))
    for node in calls:
        if (name := _name(node.func)) in SAME_SHAPE and node.args:
            kept = ast.get_source_segment(source, node.args[0])
            line = source.splitlines()[node.lineno - 1].strip()
            if kept is not None:
                found.append(LeftOut(_replaced(source, node, f"({kept})"), name, f"{node.lineno}, {line}"))
    return found


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _replaced(source: str, node: ast.Call, text: str) -> str:
    lines = source.splitlines(keepends=True)
    assert node.end_lineno is not None and node.end_col_offset is not None
    # Offsets of a syntax tree count bytes of UTF-8.
    first, last = (lines[n - 1].encode() for n in (node.lineno, node.end_lineno))
    begin, end = first[: node.col_offset].decode(), last[node.end_col_offset :].decode()
    return "".join([*lines[: node.lineno - 1], begin + text + end, *lines[node.end_lineno :]])
