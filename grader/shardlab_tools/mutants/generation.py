"""Mutants: an answer with one place changed, each text once, and a fixed sample of them."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import hashlib
from collections.abc import Iterator, Sequence

from shardlab_tools.mutants.answers import Answer
from shardlab_tools.mutants.devices import DEVICES
from shardlab_tools.mutants.operators import PLAIN

HEAD = "import jax\n"
"""What operators write may need it."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    """An answer changed in one place: by which operator, its text, and the items whose meaning may have changed."""

    question: str
    answer: str
    operator: str
    text: str
    base: str
    items: tuple[str, ...]

    @property
    def key(self) -> str:
        """Short hash of the text: the same mutant from two answers is one."""
        return hashlib.sha256(f"{self.question}\n{self.items}\n{self.text}".encode()).hexdigest()[:20]

    @property
    def difference(self) -> str:
        """The lines that differ, with a line around them."""
        lines = difflib.unified_diff(self.base.splitlines(), self.text.splitlines(), lineterm="", n=1)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def mutants(answer: Answer, items: Sequence[str]) -> Iterator[Mutant]:
    """Every mutant of an answer that may change one of these items."""
    base = HEAD + answer.text
    seen = {base}
    for statement in answer.own:
        touched = answer.items_of(statement, items)
        if touched and not isinstance(statement, ast.Import | ast.ImportFrom):
            for name, text in _changed(answer, statement):
                if text not in seen:
                    seen.add(text)
                    yield Mutant(answer.question, answer.name, name, text, base, touched)


def sample(found: Sequence[Mutant], many: int) -> list[Mutant]:
    """At most so many, the operators in turn, the same ones each time."""
    turns: dict[str, list[Mutant]] = {}
    for mutant in sorted(found, key=lambda m: m.key):
        turns.setdefault(mutant.operator, []).append(mutant)
    order = sorted((place, operator, m) for operator, group in turns.items() for place, m in enumerate(group))
    return [m for _, _, m in sorted(order, key=lambda o: (o[0], o[2].key))[:many]]


def _changed(answer: Answer, statement: ast.stmt) -> Iterator[tuple[str, str]]:
    operators = [*PLAIN.items(), *DEVICES.items()]
    for parent, field, place, node in list(_places(statement)):
        for name, operator in operators:
            for new in operator(node):
                _put(parent, field, place, new)
                try:
                    text = HEAD + answer.text_now(statement)
                    yield name, text
                finally:
                    _put(parent, field, place, node)
    for new in DEVICES["left to the compiler"](statement):
        yield "left to the compiler", HEAD + answer.text_now(statement, new)


def _places(root: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every node below, with where it stands: the parent, its field, and the place in a list."""
    for parent in ast.walk(root):
        for field, value in ast.iter_fields(parent):
            if field in ("ctx", "annotation", "returns", "op", "ops"):
                continue
            for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST) and not _docstring(node):
                    yield parent, field, place, node


def _docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node
