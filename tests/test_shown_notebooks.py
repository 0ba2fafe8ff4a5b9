"""Random notebooks, run whole and with cells left out: what is asked of them is the same."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest

from shardlab_grader.inside.shown import bound, given, left_out

NOTEBOOKS = 4000
NAMES, FUNCTIONS = "abc", "fg"
Draw = random.Random
Notebook = list[dict[str, Any]]


def expression(draw: Draw, depth: int = 0) -> str:
    """Something that can be worked out whatever the names stand for, with each scope that an expression can have."""
    name, inner = draw.choice(NAMES), lambda: f"number({expression(draw, depth + 1)})"
    if depth > 2:
        return name
    forms: list[Callable[[], str]] = [
        lambda: name,
        lambda: name,
        lambda: str(draw.randrange(9)),
        lambda: f"{inner()} + {inner()}",
        lambda: f"sum([{inner()} for {name} in range(2)])",
        lambda: f"call({draw.choice(FUNCTIONS)})",
        lambda: f"(lambda {name}=1: {inner()})()",
        lambda: f"({name} := {inner()})" if depth < 2 else "1",
        lambda: f"({inner()} if {inner()} % 2 else 0)",
        lambda: f"({inner()} or {inner()})",
    ]
    return draw.choice(forms)()


def statements(draw: Draw, count: int, depth: int = 0) -> list[str]:
    """So many statements as lines, blocks and functions among them."""
    return [line for _ in range(count) for line in statement(draw, depth)]


def statement(draw: Draw, depth: int) -> list[str]:
    """One statement as lines."""
    name, value, simple = draw.choice(NAMES), expression(draw), depth >= 2
    block = lambda: [f"  {line}" for line in statements(draw, 2, depth + 1)] if not simple else ["  pass"]  # noqa: E731
    default = draw.choice(["", "x=1", f"{name}=2", f"x={draw.choice(NAMES)}"])
    caught = draw.choice("ec")
    own = [f"  {name} = {expression(draw)}"] * (draw.random() < 0.4)
    forms: list[Callable[[], list[str]]] = [
        *[lambda: [f"{name} = {value}"]] * 4,
        lambda: [f"{name} += 1"],
        lambda: [f"def {draw.choice(FUNCTIONS)}({default}):", *own, f"  return {value}"],
        lambda: [f"if number({value}) % 2:", *block()],
        lambda: [f"for {name} in range(number({value}) % 3):", *block()],
        lambda: ["try:", *block(), f"  {draw.choice(['pass', '1 / 0'])}", f"except Exception as {caught}:", *block()],
        lambda: [f"with {draw.choice(['quiet()', f'quiet() as {name}'])}:", *block()],
        lambda: ["class C:", f"  {name} = {value}", f"  z = {name}", f"{draw.choice(NAMES)} = C.z"],
        lambda: [f"answer = {value}"],
        lambda: [f"{name}, {draw.choice(NAMES)} = {value}, {expression(draw)}"],
        lambda: [draw.choice([f"del {name}", "pass", f"f = lambda: {value}", f"import math as {name}"])],
    ]
    return draw.choice(forms)()


def notebook(draw: Draw) -> Notebook:
    """Given cells, tagged or not, a student's, and grade cells; at the end the student's answer."""
    cells = [cell(draw, "\n".join(statements(draw, draw.randrange(1, 4)))) for _ in range(draw.randrange(3, 7))]
    return [*cells, _cell(f"answer = number({expression(draw)})")]


def cell(draw: Draw, source: str) -> dict[str, Any]:
    kind = draw.choices(["shown", "given", "grade", "own"], [35, 15, 10, 40])[0]
    if kind == "grade":
        return _cell("", question="1")
    if kind == "own":
        return _cell(source)
    return _cell(source, reads=given(source), shows=bound(source) if kind == "shown" else None)


def _cell(source: str, **more: Any) -> dict[str, Any]:
    return {"source": source, "question": None, "reads": None, "shows": None} | more


def run(cells: Notebook, without: Collection[int] = ()) -> list[Any] | None:
    """The answer at each grade cell and at the end; `None` when a cell raises."""
    space: dict[str, Any] = {"number": number, "call": Calls(), "quiet": quiet, "a": 1, "b": 2, "c": 3}
    space |= {"f": lambda: 4, "g": lambda: 5}
    answers = []
    for n, one in enumerate(cells):
        if one["question"]:
            answers.append(number(space.get("answer")))
        elif n not in without:
            try:
                exec(one["source"], space)
            except Exception:
                return None
    return [*answers, number(space.get("answer"))]


def number(x: object) -> int:
    return x % 1000 if isinstance(x, int) else 5


class Calls:
    """Calls a function, unless it is too deep in others."""

    def __init__(self) -> None:
        self._depth = 0

    def __call__(self, function: object) -> int:
        if self._depth > 5 or not callable(function):
            return 3
        self._depth += 1
        try:
            return number(function())
        finally:
            self._depth -= 1


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with contextlib.suppress(Exception):
        yield


def sound(seed: int) -> Notebook | None:
    """A notebook that Python takes, and that runs through."""
    try:
        cells = notebook(random.Random(seed))
        return cells if run(cells) is not None else None
    except SyntaxError:  # a name that is both bound in a comprehension and its loop's
        return None


@pytest.mark.thorough
def test_answers_do_not_tell_what_is_left_out() -> None:
    """Whatever the cells bind, read, hide and delete; and enough notebooks have something to leave out."""
    found = [cells for seed in range(NOTEBOOKS) if (cells := sound(seed))]
    pairs = [(cells, without) for cells in found if (without := left_out(cells, {"answer"}))]
    wrong = [cells for cells, without in pairs if run(cells, without) != run(cells)]
    assert not wrong, "\n--\n".join(str(one["source"]) for one in wrong[0])
    assert len(pairs) > NOTEBOOKS / 20
