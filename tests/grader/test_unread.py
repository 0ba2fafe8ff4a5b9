"""A cell that Python cannot read: what of it runs, which line is told, and which answers are errors instead of open."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from shardlab_grader.border.artifact import CellError
from shardlab_grader.classes import unread
from shardlab_grader.classes.notebook import Cell, Job, Settings
from shardlab_grader.inside import cells
from shardlab_grader.records.texts import CHECK

CELLS: dict[str, tuple[str, str, list[str]]] = {
    "whole": ("a = 1\nb = 2", "a = 1\nb = 2", []),
    "a colon": ("a = 1\ndef f(n)\n    return n\n\nb = 2", "a = 1\n#\n#\n#\nb = 2", ["line 2\n    def f(n)\n            ^"]),
    "a colon inside": (
        "def f(n):\n    for i in n\n        pass\nb = 2",
        "#\n#\n#\nb = 2",
        ["line 2\n    for i in n\n              ^"],
    ),
    "a bracket": ("a = (1,\nb = 2", "#\nb = 2", ["line 1\n    a = (1,\n        ^"]),
    "decorated": ("@jit\ndef f(n)\n    pass\na = 1", "#\n#\n#\na = 1", ["line 2\n    def f(n)\n            ^"]),
    "otherwise": (
        "if a:\n    b\nelse:\n    c\nd = )",
        "if a:\n    b\nelse:\n    c\n#",
        ["line 5\n    d = )\n        ^"],
    ),
    "quoted": ("a = '''\nb = 1 1\n'''\nc =", "a = '''\nb = 1 1\n'''\n#", ["line 4\n    c =\n       ^"]),
    "return": ("a = 1\nreturn a", "a = 1\n#", ["line 2\n    return a\n    ^"]),
    "indented": ("a = 1\n  b = 2\nc = 3", "#\n#\nc = 3", ["line 2\n    b = 2\n    ^"]),
}
"""A cell, what of it runs, and what is told."""


@pytest.mark.parametrize("named", ['"4.2"', "'4.2'", "4.2", '"04.2"'])
def test_an_exercise_is_known_however_it_is_named(named: str) -> None:
    """As text or as a number, in a check and in a prediction."""
    found = CHECK.match(f"sl.check({named}, product)")
    assert found is not None and (found["id"], found["chapter"]) == ("4.2", "4")
    assert cells.defined(f"sl.predict({named}, kinds=...)") >= {"4.2"}


def error_of(text: str) -> SyntaxError | None:
    """What Python says of a text."""
    try:
        compile(text, "cell", "exec")
    except SyntaxError as error:
        return error
    return None


@pytest.mark.parametrize("name", CELLS)
def test_what_can_be_read_runs(name: str) -> None:
    """Each statement by itself; the others are told with their line in the cell, and a caret."""
    source, runs, told = CELLS[name]
    rest, errors = cells.readable(source, error_of)
    assert rest == runs
    assert [cells.told(error, source) for error in errors] == told


LABELS = {
    "a function": ("import jax\n\n# mine\n@jax.jit\ndef f(x):\n    return x", 'cell "def f(x):"'),
    "imports alone": ("import jax", 'cell "import jax"'),
    "long": ("x = '" + "y" * 99, 'cell "x = ..."'),
    "nothing": ("", 'cell ""'),
}


@pytest.mark.parametrize("name", LABELS)
def test_a_cell_is_called_by_its_first_line(name: str) -> None:
    """Of those that say something."""
    source, label = LABELS[name]
    assert cells.label(source) == label


MANIFESTS: dict[str, Any] = {
    "1.1": {"id": "1.1", "variable": None, "items": [{"name": "f", "kind": "calls"}]},
    "1.2": {"id": "1.2", "variable": "parts", "items": [{"name": "A", "kind": "value"}, {"name": "B", "kind": "value"}]},
    "1.3": {"id": "1.3", "variable": None, "items": [{"name": "kind", "kind": "value", "predicted": True}]},
}
COLON = CellError(0, "SyntaxError", "expected ':'", "line 1")
ERROR = {"error": {"type": "SyntaxError", "message": "expected ':'", "line": "line 1"}}
NO = {"error": {"type": "ValueError", "message": "no", "line": "line 1"}}
RAISED = CellError(0, "ValueError", "no", "line 1")
MISSING, TODO, VALUE = {"missing": True}, {"todo": True}, {"value": 3}
OPEN: dict[str, tuple[str, CellError, str, dict[str, Any], list[Any]]] = {
    "its own cell": ("x = f(n", COLON, "1.1", {"f": MISSING}, [ERROR]),
    "another's cell that defines it": ("a = 1\nparts = {", COLON, "1.2", {"A": MISSING, "B": MISSING}, [ERROR, ERROR]),
    "another's cell": ("other = {", COLON, "1.2", {"A": MISSING, "B": TODO}, [MISSING, TODO]),
    "a stub that is left": ("def f(n)\n  return n", COLON, "1.1", {"f": {"calls": [TODO, TODO]}}, [ERROR]),
    "a stub of another": ("x = (", COLON, "1.1", {"f": TODO}, [TODO]),
    "a prediction": ('sl.predict("1.3", kind=)', COLON, "1.3", {"kind": MISSING}, [ERROR]),
    "an answer": ("f = (", COLON, "1.1", {"f": VALUE}, [VALUE]),
    "a cell that raised": ("def f(n): pass\n1 / 0", RAISED, "1.1", {"f": MISSING}, [NO]),
    "a cell that raised elsewhere": ("g = 1 / 0", RAISED, "1.1", {"f": MISSING}, [MISSING]),
}  # fmt: skip
"""A cell of exercise 1.1, what it raised, a question, its entries, and what becomes of them."""


@pytest.mark.parametrize("name", OPEN)
def test_what_could_not_be_read_is_not_open(name: str, tmp_path: pathlib.Path) -> None:
    """It has the error of the cell that it stands in; what stands elsewhere is as it was."""
    source, error, question, items, expected = OPEN[name]
    job = Job("", (Cell(source), Cell("", "1.1"), Cell("", "1.2"), Cell("", "1.3")), MANIFESTS, Settings(tmp_path))
    found = unread.with_errors(job, [error], {question: {"items": items}})
    assert list(found[question]["items"].values()) == expected
