"""Given cells that a graded run leaves out: what a cell reads and binds, what may be left out, and what authors may tag."""

from __future__ import annotations

import ast
import functools
import pathlib
from typing import Any

import pytest

from shardlab_course.editions import edition, header
from shardlab_grader.classes import restore
from shardlab_grader.inside.shown import bound, given, left_out, read, without_magics

ROOT = pathlib.Path(__file__).parents[1]
CHAPTERS = {path.stem: path for path in edition.chapters(ROOT)}

READ = {
    "A = 1\nB = A + 1": "",
    "B = A + 1\nA = 1": "A",
    "for i in xs:\n  print(i, y)": "xs y print",
    "for i in xs: pass\ni": "xs i",
    "try:\n  f()\nexcept E as error:\n  print(error)\nprint(error)": "f E print error",
    "try:\n  x = 1\nfinally:\n  x": "x",
    "def f(a=d):\n  return A + a\nA = 1\nf(A)": "A d",
    "@wrap\ndef f(): pass\nf": "wrap",
    "[x for x in x if x > z]": "x z",
    "{n: (s, t) for n, (s, t) in pairs}": "pairs",
    "if c:\n  q = 1\nq": "c q",
    "while t:\n  t = h": "t h",
    "x += 1": "x",
    "x[0] = 1\ny.b = 2": "x y",
    "with m as k:\n  k.z": "m",
    "import a.b as c, d.e\nfrom g import h\nc, d, h, a": "a",
    "f = lambda u: u + w\nw = 2": "w",
    "del z": "z",
    "class C:\n  v = n\n  def m(self): return p": "n p",
    "x: int = 3": "int",
    "print(f'{n} {m:{k}}')": "print n m k",
    "match s:\n  case [p]: p": "s p",
    "async def f(): return B": "B",
    "a, (b, *c) = v\na + b, c": "v",
    "def f() -> A: pass": "A",
    "def f():\n  out = []\n  def g(x): out.append(x); out[0] = A": "A",
    "with m:\n  q = 1\nq": "m q",
    "p = x and (q := 1)\nq": "x q",
    "[[p for p in q if r] for q in s]": "r s",
    "[x for x in y]\nx": "x y",
    "def f(x):\n  nnx.update(x)\n  return jnp.add(x, x.at[0].add(1))": "nnx jnp",
    "for _ in xs: pass": "xs",
}
INDIRECT = (
    "%time x",
    "x = !ls",
    "f?",
    "x y",
    "\0",
    "(" * 500,
    "globals()",
    "import __main__",
    "eval('A')",
    "f.__globals__['A']",
    "_ + 1",
    "_12",
    "Out[3]",
    "In[1]",
    "vars()",
    "sys.modules[__name__]",
    "import builtins",
    "'A' in dir()",
    "cProfile.run('f(A)')",
    "def f():\n  global A\n  A = A + 1",
    "def f(x):\n  calls.append(x.shape)",
    "def f(x):\n  seen[x.shape] += 1",
    "def f(x):\n  if x: calls.shapes.add(x.shape)",
    "def f(x):\n  seen.update(x)",
    "def f(x):\n  last = calls.pop()\n  return last",
    "def f(x):\n  queue.put(x)",
    "def f(x):\n  note(calls, x)",
    "def f():\n  return next(numbers)",
    "getattr(m, 'sha' + 'pe')",
    "sys.modules['__ma' + 'in__'].A",
    "importlib.import_module('__ma' + 'in__')",
)
BOUND = {
    "import a.b as c, d.e\nfor k in z: m = k": "c d k m",
    "def f(u):\n  global g\n  g = u": "f g",
    "u = 1\n[(r := u) for u in us]": "r u",
    "with o as p: pass": "p",
    "class C:\n  inside = 1": "C",
    "A, (B, *E) = v": "A B E",
}
OWN: dict[str, Any] = {"question": None, "reads": None, "shows": None}


def own(source: str) -> dict[str, Any]:
    """A student's cell."""
    return {**OWN, "source": source}


def ours(source: str, shows: bool = False) -> dict[str, Any]:
    """A given cell, tagged or not."""
    return {**own(source), "reads": given(source), "shows": bound(source) if shows else None}


@pytest.mark.parametrize(("text", "names"), READ.items())
def test_names_that_a_cell_reads(text: str, names: str) -> None:
    """Those that it reads before it binds them, and all that its functions read."""
    assert read(text) == frozenset(names.split())


@pytest.mark.parametrize("text", INDIRECT)
def test_cells_of_which_it_cannot_be_told(text: str) -> None:
    """Magics, broken code, and code that reads names that are not written in it."""
    assert read(text) is None


def test_attributes_called_name_are_no_names() -> None:
    """Many a cell prints the name of an exception's type."""
    assert read("print(type(e).__name__)") == {"print", "type", "e"}


@pytest.mark.parametrize(("text", "names"), BOUND.items())
def test_names_that_a_cell_binds(text: str, names: str) -> None:
    """Of the notebook, not of its functions."""
    assert bound(text) == frozenset(names.split())


def test_given_cells_with_magics_read_names() -> None:
    """The first cell of each notebook holds one."""
    assert given("try:\n    import a\nexcept ImportError:\n    %pip install -q a\nb") == {"ImportError", "b"}


CELLS = {
    "nobody reads it": ([ours("A = 1"), ours("A + 1", True), own("f = 2")], {1}),
    "an answer reads it": ([ours("A = 1", True), own("f = A")], set()),
    "a function reads it later": ([own("def f(): return A"), ours("A = 1", True)], set()),
    "by way of another one": ([ours("A = 1", True), ours("B = A", True), own("f = B")], set()),
    "only another one reads it": ([ours("A = 1", True), ours("print(A)", True), own("f = 2")], {0, 1}),
    "what is asked": ([ours("answer = 1", True)], set()),
    "the student binds it again": ([ours("A = 1", True), own("A = 2\ndef f(): return A")], {0}),
    "a later cell does": ([ours("A = 1", True), own("A = 2"), own("A")], {0}),
    "it is bound too late": ([ours("A = 1", True), own("A"), own("A = 2")], set()),
    "it is bound perhaps": ([ours("A = 1", True), own("if x:\n  A = 2"), own("A")], set()),
    "it is bound from itself": ([ours("A = 1", True), own("A = A + 1")], set()),
    "it is bound after a call": ([ours("A = 1", True), own("def f(): return A\nprint(f())\nA = 2")], set()),
    "it is bound after a comprehension": ([ours("A = 1", True), own("B = [A for _ in C]\nA = 2")], set()),
    "it is bound unless that fails": ([ours("A = 1", True), own("with quiet:\n  g()\n  A = 2"), own("A")], set()),
    "it is asked for twice": (
        [ours("answer = 1", True), own("if c: answer = 2"), {**own(""), "question": "1.1"}, own("answer = 3")],
        set(),
    ),
    "a function keeps a record": ([own("n = []\ndef f(x): n.append(x)"), ours("print(f(2))", True)], set()),
    "it binds after the student": ([own("A = 2\ndef f(): return A"), ours("A = 1", True)], set()),
    "somebody looks around": ([ours("A = 1", True), own("globals()['A']")], set()),
    "ours looks around": ([ours("A = 1", True), ours("print(_)")], {0}),
    "text in a grade cell": ([ours("A = 1", True), {**own("A"), "question": "1.1"}], {0}),
}


@pytest.mark.parametrize(("cells", "idle"), CELLS.values(), ids=CELLS)
def test_cells_that_are_left_out(cells: list[dict[str, Any]], idle: set[int]) -> None:
    """A tagged cell that no answer can tell of."""
    assert left_out(cells, {"answer"}) == idle


@functools.cache
def chapter(name: str) -> Any:
    """The worked chapter."""
    return edition.solution(edition.source(CHAPTERS[name], header.syllabus(ROOT)))


def tagged(name: str) -> list[Any]:
    return [cell for cell in chapter(name).cells if restore.SHOW in cell.metadata.get("tags", [])]


@pytest.mark.thorough(after=13)
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_tagged_cell_is_left_out(name: str) -> None:
    """With the reference answers each tag saves something; else it would only be in the way."""
    cells = restore.job_cells(chapter(name), chapter(name))
    questions = [header.syllabus(ROOT).questions[id] for id in edition.questions(chapter(name))]
    asked = {word for q in questions for word in (q.variable, *(item.name for item in q.items)) if word}
    idle = left_out([vars(cell) for cell in cells], asked)
    kept = [cell.source for n, cell in enumerate(cells) if cell.shows is not None and n not in idle]
    assert not kept and len(idle) == len(tagged(name)) > 0


CHANGING = frozenset(
    "add append choice clear close config discard environ extend fill filterwarnings insert integers normal permutation pop "
    "predict put random register remove reverse seed set_printoptions setdefault shuffle sort standard_normal uniform "
    "update write write_text".split()
)
"""What a cell may do to its own objects only: change them, or draw from a generator of random numbers."""


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_tagged_cell_changes_nothing(name: str) -> None:
    """But for the names that it binds; a module's functions give new arrays."""
    for cell in tagged(name):
        assert "nbgrader" not in cell.metadata, cell.source
        its = bound(cell.source) | {"np", "jax", "jnp", "textwrap"}
        for node in ast.walk(ast.parse(without_magics(cell.source))):
            stores = isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
            changes = isinstance(node, ast.Attribute) and node.attr in CHANGING and ".at[" not in ast.unparse(node)
            if stores or changes:
                assert _root(node) in its and "config" not in ast.unparse(node), ast.unparse(node)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
