"""The corpus `tests/answers/<question>.py`: a reference, then variants that hold only what differs from it.

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
import functools
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import jax
from reach import predicts

FOLDER = pathlib.Path(__file__).parent / "answers"
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
    due = {s: _due(s) for s in statements}
    reference = tuple(s for s in statements if due[s] is None and not _imports_these(s))
    variants = [Sample(path, s.name, due[s], reference, tuple(s.body)) for s in statements if due[s]]
    samples = (Sample(path, REFERENCE, right, reference), *variants)
    names = [sample.name for sample in samples]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{path.name}: two answers are named {', '.join(sorted(twice))}")
    return samples


@functools.cache
def of(question: str) -> Mapping[str, Sample]:
    """The answers to one question, by name."""
    return {sample.name: sample for sample in read(FOLDER / f"{question}.py")}


def samples() -> tuple[Sample, ...]:
    """Every answer of the corpus."""
    return tuple(sample for path in sorted(FOLDER.glob("*.py")) for sample in of(path.stem).values())


def _due(statement: ast.stmt) -> Due | None:
    """What a variant's decorator says; a decorator that the reference uses says nothing."""
    for decorator in getattr(statement, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Name) and called.id in WORDS:
            return eval(compile(ast.Expression(decorator), "<variant>", "eval"), WORDS)
    return None


def _imports_these(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "variants"
