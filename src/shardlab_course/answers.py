"""The answers that an exercise must tell apart: its solution, and variants that hold only what differs from it.

    @wrong("sum-of-each", 0)
    def adds():
        def outer(mesh, a, b):
            return a[:, None] + b[None, :]

The solution is read from the chapter's text. A variant's body runs after it and in its namespace, as a later cell of a
notebook does: what it binds again is what the solution's functions then see, and `del` takes a name away. A variant that
predicts makes none of the solution's predictions. What stands beside the variants, imports and helpers, is there for all of
them. With `of="another"` a variant changes that right answer instead of the solution.
"""

from __future__ import annotations

import ast
import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

import jax

from shardlab_course import own
from shardlab_course.solved import Solution, binds, solution

REFERENCE = "reference"


@dataclasses.dataclass(frozen=True)
class Due:
    """The verdict that a variant must get: passed, or failed with a misconception (`-`: none in particular) and its points.

    A prediction that was wrong passes, and is `told` its misconception. One that is launched `alone` hangs, and observed
    answers launched together with it would wait for its end. `of` names the right answer that it changes, where that is not
    the solution. `elsewhere` is what is due with another version of JAX.
    """

    misconception: str | None = None
    points: float | None = None
    alone: bool = False
    passes: bool = False
    of: str | None = None
    elsewhere: str | None = None

    def __call__(self, variant: Callable[[], None] | None = None, *, of: str | None = None) -> Any:
        """The variant as it is, because what it is due is read from the file; or the same due, `of` another answer."""
        return dataclasses.replace(self, of=of) if variant is None else variant


right = Due()
"""What a right answer is due: all points."""


def wrong(misconception: str, points: float | None = None, *, alone: bool = False, of: str | None = None) -> Due:
    """What a wrong answer is due; without points any number of them, but not all."""
    return Due(misconception, points, alone, of=of)


def told(misconception: str, *, of: str | None = None) -> Due:
    """What a prediction is due that was different: all points, and its cause."""
    return Due(misconception, passes=True, of=of)


def changed(version: str, before: Due, after: Due) -> Due:
    """What is due where XLA compiles a program otherwise since this version of JAX: as it was measured on both."""
    here, other = (after, before) if jax.__version_info__ >= tuple(map(int, version.split("."))) else (before, after)
    return dataclasses.replace(here, elsewhere=other.misconception)


WORDS = {"right": right, "wrong": wrong, "told": told, "changed": changed}
"""What a variant's decorator is made of."""


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """One answer to an exercise: the solution, what the file has for all of its variants, and the variant's statements."""

    path: pathlib.Path
    question: str
    name: str
    due: Due
    solution: Solution
    shared: tuple[ast.stmt, ...] = ()
    body: tuple[ast.stmt, ...] = ()

    @property
    def misconception(self) -> str | None:
        """The one that must be named, `-` for none in particular, and none at all for a right answer."""
        return self.due.misconception

    @property
    def reference(self) -> tuple[ast.stmt, ...]:
        """What runs before the variant's own statements."""
        return self.solution.statements + self.shared

    def variables(self) -> dict[str, Any]:
        """What is left behind when it has run."""
        namespace: dict[str, Any] = {"__name__": "answer", "__file__": str(self.path)}
        for path, statements in ((self.solution.path, self._kept()), (self.path, self.shared + self.body)):
            exec(compile(ast.Module([*statements], type_ignores=[]), str(path), "exec"), namespace)
        return namespace

    def source(self) -> str:
        """The same as text: what a student would hand in."""
        return ast.unparse(ast.Module([*self._kept(), *self.shared, *self.body], type_ignores=[]))

    def _kept(self) -> tuple[ast.stmt, ...]:
        anew = any(map(predicts, self.body))
        return tuple(s for s in self.solution.statements if not (anew and predicts(s)))


def read(path: pathlib.Path, text: pathlib.Path, id: str) -> tuple[Sample, ...]:
    """The answers to an exercise, its solution first.

    Args:
        path: the exercise's `answers.py`; where it is not there, the solution is the only answer.
        text: the chapter's text, with the solution.
    Raises:
        ShardlabError: the text has no solution of this exercise.
        ValueError: two variants have one name, one changes an answer that is not there, or what stands beside the variants
            binds a name of the solution's.
    """
    solved = solution(text, id)
    statements = ast.parse(path.read_text(), str(path)).body if path.exists() else []
    due = {s: found for s in statements if isinstance(s, ast.FunctionDef) and (found := _due(s))}
    shared = tuple(s for s in statements if s not in due and not _is_said_only(s))
    names = [REFERENCE, *(s.name for s in due)]
    bodies = {s.name: tuple(s.body) for s in due}
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{path}: two answers are named {', '.join(sorted(twice))}")
    if lost := {found.of for found in due.values()} - {None, *bodies}:
        raise ValueError(f"{path}: there is no answer {', '.join(sorted(map(str, lost)))} to change")
    again = set().union(*map(binds, (s for s in shared if not _is_import(s)))) & set().union(*map(binds, solved.statements))
    if again:
        raise ValueError(f"{path}: the solution has {', '.join(sorted(again))}; what changes it is a variant")
    variants = [
        Sample(path, id, s.name, d, solved, shared, bodies.get(d.of or "", ()) + bodies[s.name]) for s, d in due.items()
    ]
    return (Sample(path, id, REFERENCE, right, solved), *variants)


def answers(folder: pathlib.Path, text: pathlib.Path) -> dict[str, tuple[Sample, ...]]:
    """By question the answers to all exercises of a chapter's folder.

    Args:
        text: the chapter's text; the name begins with the chapter's number.
    """
    chapter = int(text.stem[:2])
    ids = {f"{chapter}.{number}": where for number, where in own.exercises(folder).items()}
    return {id: read(where / own.ANSWERS, text, id) for id, where in ids.items()}


def _due(statement: ast.FunctionDef) -> Due | None:
    """What a variant's decorator says; a decorator that the solution uses says nothing."""
    for decorator in statement.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Name) and called.id in WORDS:
            found: Due = eval(compile(ast.Expression(decorator), "<variant>", "eval"), {**WORDS})
            return found
    return None


def _is_import(statement: ast.stmt) -> bool:
    """Whether it imports something, or gives what is imported a shorter name."""
    alias = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Attribute)
    return alias or isinstance(statement, ast.Import | ast.ImportFrom)


def _is_said_only(statement: ast.stmt) -> bool:
    """Whether it is nothing of an answer: the file's docstring, and the import of the decorators."""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or (isinstance(statement, ast.ImportFrom) and statement.module == __name__)


def predicts(statement: ast.stmt) -> bool:
    """Whether it calls `sl.predict`; what that returns is kept or not."""
    call = getattr(statement, "value", None)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "predict"
