"""The right answers to the course's exercises, as statements: what mutants are made from."""

from __future__ import annotations

import ast
import dataclasses
import functools
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from shardlab_course import answers, chapters, own
from shardlab_course.answers import REFERENCE, Sample
from shardlab_course.editions import edition

Statements = tuple[ast.stmt, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Answer:
    """One right answer to a question; `own` are its own statements, or those of the solution."""

    question: str
    name: str
    statements: Statements
    own: Statements

    @functools.cached_property
    def text(self) -> str:
        """What a student would hand in."""
        return self.text_now()

    def text_now(self, old: ast.stmt | None = None, new: ast.AST | None = None) -> str:
        """The same after a statement has been changed, or with another one in its place."""
        return "\n".join(ast.unparse(new or s) if s is old else self._texts[s] for s in self.statements)

    @functools.cached_property
    def _texts(self) -> dict[ast.stmt, str]:
        return {s: ast.unparse(s) for s in self.statements}

    def items_of(self, statement: ast.stmt, names: Iterable[str]) -> tuple[str, ...]:
        """Those of some items' names whose meaning a statement has a part in."""
        return tuple(name for name in names if statement in set(_reached(self.statements, name)))


def read(question: str) -> Iterator[Answer]:
    """The right answers to a question, its solution first."""
    chapter, number = map(int, question.split("."))
    (text,) = edition.chapters(pathlib.Path.cwd(), [chapter])
    yield from of(answers.read(chapters.exercises(chapter)[number] / own.ANSWERS, text, question))


def of(samples: Iterable[Sample]) -> Iterator[Answer]:
    """Those of an exercise's answers that are right, its solution first."""
    for sample in samples:
        if sample.name == REFERENCE:
            yield Answer(sample.question, REFERENCE, sample.solution.statements, sample.solution.own)
        elif sample.misconception is None:
            yield Answer(sample.question, sample.name, sample.reference + sample.body, sample.body)


def namespace(text: str) -> dict[str, Any]:
    """What an answer leaves behind when it has run."""
    found: dict[str, Any] = {"__name__": "answer", "__file__": "answer.py"}
    exec(compile(text, "answer.py", "exec"), found)
    return found


def source_of(text: str, names: Iterable[str]) -> str:
    """The statements of an answer that some names lead to; of a name that is bound twice the later one."""
    last = {name: s for s in ast.parse(text).body for name in _bound(s)}
    kept = [s for s in last.values() if s in {r for name in names for r in _reached([*last.values()], name)}]
    return "\n".join(ast.unparse(s) for s in dict.fromkeys(kept))


def names_in(*nodes: ast.AST) -> set[str]:
    """Every name that stands there."""
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def _reached(statements: Sequence[ast.stmt], name: str) -> Iterator[ast.stmt]:
    wanted, waiting = set(), {name}
    while waiting:
        wanted |= waiting
        about = [s for s in statements if _bound(s) & waiting]
        yield from about
        waiting = names_in(*about) - wanted


def _bound(statement: ast.stmt) -> set[str]:
    """What a statement of a module binds or changes: of a call or a loop every name in it."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return names_in(*targets)
        case ast.Import() | ast.ImportFrom():
            return set()
    return names_in(statement)
