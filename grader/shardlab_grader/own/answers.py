"""Answers to a question in one file: a reference, then variants that hold only what differs from it.

    @wrong("sum-of-each", 0)
    def adds():
        def outer(mesh, a, b):
            return a[:, None] + b[None, :]

A variant's body runs after the reference and in its namespace, as a later cell of a notebook does: what it binds again is
what the reference's functions then see, and `del` takes a name away. A variant that predicts makes none of the reference's
predictions.
"""

from __future__ import annotations

import ast
import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

import jax

REFERENCE = "reference"


@dataclasses.dataclass(frozen=True)
class Due:
    """The verdict that a variant must get: passed, or failed with a misconception (`-`: none in particular) and its points.

    A prediction that was wrong passes, and is `told` its misconception. One that is launched `alone` hangs, and observed
    answers launched together with it would wait for its end. `elsewhere` is what is due with another version of JAX.
    """

    misconception: str | None = None
    points: float | None = None
    alone: bool = False
    passes: bool = False
    elsewhere: str | None = None

    def __call__(self, variant: Callable[[], None]) -> Callable[[], None]:
        """The variant as it is: what it is due is read from the file."""
        return variant


right = Due()


def wrong(misconception: str, points: float | None = None, *, alone: bool = False) -> Due:
    """What a wrong answer is due; without points any number of them, but not all."""
    return Due(misconception, points, alone)


def told(misconception: str) -> Due:
    """What a prediction is due that turned out otherwise: all points, and its cause."""
    return Due(misconception, passes=True)


def changed(version: str, before: Due, after: Due) -> Due:
    """What is due where XLA compiles a program otherwise since this version of JAX: as it was measured on both."""
    here, other = (after, before) if jax.__version_info__ >= tuple(map(int, version.split("."))) else (before, after)
    return dataclasses.replace(here, elsewhere=other.misconception)


WORDS = {"right": right, "wrong": wrong, "told": told, "changed": changed}
"""What a variant's decorator is made of."""


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """One answer of the corpus: the statements of the reference, and those of the variant."""

    path: pathlib.Path
    name: str
    due: Due
    reference: tuple[ast.stmt, ...]
    body: tuple[ast.stmt, ...] = ()

    @property
    def question(self) -> str:
        """Id of the question that it answers."""
        return self.path.stem

    @property
    def misconception(self) -> str | None:
        """The one that must be named, `-` for none in particular, and none at all for a right answer."""
        return self.due.misconception

    def variables(self) -> dict[str, Any]:
        """What is left behind when it has run."""
        namespace: dict[str, Any] = {"__name__": "answer", "__file__": str(self.path)}
        exec(compile(self._module(), str(self.path), "exec"), namespace)
        return namespace

    def source(self) -> str:
        """The same as text: what a student would hand in."""
        return ast.unparse(self._module())

    def _module(self) -> ast.Module:
        anew = any(map(predicts, self.body))
        kept = [s for s in self.reference if not (anew and predicts(s))]
        return ast.Module([*kept, *self.body], type_ignores=[])


def read(path: pathlib.Path) -> tuple[Sample, ...]:
    """The samples in a file, its reference first.

    Raises:
        ValueError: two variants have one name.
    """
    statements = ast.parse(path.read_text(), str(path)).body
    due = {s: found for s in statements if isinstance(s, ast.FunctionDef) and (found := _due(s))}
    reference = tuple(s for s in statements if s not in due and not _imports_these(s))
    variants = [Sample(path, s.name, found, reference, tuple(s.body)) for s, found in due.items()]
    samples = (Sample(path, REFERENCE, right, reference), *variants)
    names = [sample.name for sample in samples]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{path.name}: two answers are named {', '.join(sorted(twice))}")
    return samples


def _due(statement: ast.stmt) -> Due | None:
    """What a variant's decorator says; a decorator that the reference uses says nothing."""
    for decorator in getattr(statement, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Name) and called.id in WORDS:
            return eval(compile(ast.Expression(decorator), "<variant>", "eval"), WORDS)
    return None


def _imports_these(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module in ("variants", __name__)


def predicts(statement: ast.stmt) -> bool:
    """Whether it calls `sl.predict`; what that returns is kept or not."""
    call = getattr(statement, "value", None)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "predict"
