"""The right answer to an exercise: the statements of its solution in the chapter's text, and those that they need."""

from __future__ import annotations

import ast
import dataclasses
import functools
import pathlib
import re
import symtable
from collections.abc import Iterable, Iterator

from shardlab.errors import ShardlabError

CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?P<options>(?::[^\n]*\n)*)(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(r"^<!-- exercise (\d+\.\d+) -->", re.MULTILINE)
GRADE = re.compile(r"""\s*sl\.check\(\s*["']([^"']+)["']""")
MAGIC = re.compile(r"^(\s*)[%!].*", re.MULTILINE)
REGION = "### BEGIN SOLUTION"
HEAD = "import shardlab as sl"
"""What the first cell of every chapter does, which is generated."""


@dataclasses.dataclass(frozen=True)
class Solution:
    """A right answer: the chapter's file, the statements before the exercise that it needs, and its own."""

    path: pathlib.Path
    given: tuple[ast.stmt, ...]
    own: tuple[ast.stmt, ...]

    @property
    def statements(self) -> tuple[ast.stmt, ...]:
        """All of them, in the order in which they run."""
        return self.given + self.own


@dataclasses.dataclass(frozen=True)
class _Cell:
    exercise: str | None
    solved: bool
    statements: tuple[ast.stmt, ...]


def solution(path: pathlib.Path, id: str) -> Solution:
    """The solution of an exercise in a chapter's text, `solutions/NN_name.md`; lines are those of the file.

    Raises:
        ShardlabError: the text has no such exercise, or none with a solution region.
    """
    cells = _cells(path, path.stat().st_mtime_ns)
    own = tuple(s for cell in cells if cell.exercise == id and cell.solved for s in cell.statements)
    if not own:
        mend = f"write the line <!-- exercise {id} -->, and a cell with ### BEGIN SOLUTION and ### END SOLUTION below it."
        raise ShardlabError("no-solution", f"there is no solution of exercise {id}.", where=path.name, mend=mend)
    last = max(n for n, cell in enumerate(cells) if cell.exercise == id)
    # Of what stands beside another solution in its cell, an import is given to all that follow.
    before = [
        s
        for cell in cells[: last + 1]
        for s in cell.statements
        if not cell.solved or (cell.exercise != id and isinstance(s, ast.Import | ast.ImportFrom))
    ]
    return Solution(path, tuple(_needed(before, own)), own)


def reads(statement: ast.stmt) -> frozenset[str]:
    """The names of a notebook that a statement reads, inside functions too."""
    top = _table(statement)
    inner = {s.get_name() for scope in _scopes(top) for s in scope.get_symbols() if s.is_global()}
    return frozenset(inner | {s.get_name() for s in top.get_symbols() if s.is_referenced()})


def binds(statement: ast.stmt) -> frozenset[str]:
    """The names of a notebook that a statement binds."""
    return frozenset(s.get_name() for s in _table(statement).get_symbols() if s.is_assigned() or s.is_imported())


@functools.lru_cache(maxsize=4)
def _cells(path: pathlib.Path, changed: int) -> tuple[_Cell, ...]:
    text, found = path.read_text(), [_Cell(None, False, tuple(ast.parse(HEAD).body))]
    marks = [(match.start(), match[1]) for match in EXERCISE.finditer(text)]
    graded: set[str] = set()
    for match in CELL.finditer(text):
        exercise = next((id for start, id in reversed(marks) if start < match.start()), None)
        exercise = None if exercise in graded else exercise
        if grade := GRADE.match(match["text"]):
            graded.add(grade[1])
            continue
        tree = ast.parse(MAGIC.sub(r"\1pass", match["text"]))
        ast.increment_lineno(tree, text.count("\n", 0, match.start("text")))
        found.append(_Cell(exercise, REGION in match["text"], tuple(tree.body)))
    return tuple(found)


def _needed(before: list[ast.stmt], own: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Of the statements before a solution those that bind, or change, what it reads; of two that bind a name the last."""
    there: set[str] = set()
    needed: set[str] = set()
    for statement in own:
        needed |= reads(statement) - there
        there |= binds(statement)
    found = []
    for statement in reversed(before):
        bound = binds(statement)
        if needed & (bound | _changes(statement)):
            found.append(statement)
            needed = needed - bound | reads(statement)
    return found[::-1]


def _changes(statement: ast.stmt) -> set[str]:
    """The names whose objects a statement changes: an entry or attribute is set, or a method called for no result."""
    parts = [n for n in ast.walk(statement) if isinstance(n, ast.Attribute | ast.Subscript) and isinstance(n.ctx, ast.Store)]
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute() as called)):
            parts.append(called)
    return {_root(part) for part in parts} - {"sl", "jax", "jnp", "np"}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@functools.lru_cache(maxsize=4096)
def _table(statement: ast.stmt) -> symtable.SymbolTable:
    return symtable.symtable(ast.unparse(statement), "cell", "exec")


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _scopes(child)
