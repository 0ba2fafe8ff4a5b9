"""Variants of a reference: what they run as, and which of its names they leave as they are."""

from __future__ import annotations

import ast
import pathlib

import pytest

from reach import untouched
from shardlab.answers import in_the_box
from variants import FOLDER, read

FILE = '''\
"""The reference."""

import shardlab as sl
from variants import right, wrong


def helper(n):
    return n + 1


def answer(n):
    return helper(n)


sl.predict("0.1", sum=1, kind="a")


@right
def as_it_is():
    """Nothing differs."""


@wrong("adds-two", 1.5)
def adds_two():
    def helper(n):
        return n + 2


@wrong("-", alone=True)
def leaves_out():
    del answer
    sl.predict("0.1", sum=...)
'''

REFERENCE = """
import jax
P = jax.P
def base(n): return n
def near(n): return base(n)
def far(n): return P(n)
sizes = {"a": 1}
def sized(n): return sizes["a"] * n
"""
NAMES = {"base", "near", "far", "sizes", "sized"}


@pytest.fixture
def file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A file of answers to question 0.1."""
    monkeypatch.setenv("SHARDLAB_RECORD", "1")
    monkeypatch.setattr(in_the_box, "GIVEN", {})
    (path := tmp_path / "0.1.py").write_text(FILE)
    return path


def test_what_a_file_says(file: pathlib.Path) -> None:
    """The reference comes first; a variant's decorator is what it is due."""
    read_from = read(file)
    assert [(s.question, s.name, s.misconception, s.due.points, s.due.alone) for s in read_from] == [
        ("0.1", "reference", None, None, False),
        ("0.1", "as_it_is", None, None, False),
        ("0.1", "adds_two", "adds-two", 1.5, False),
        ("0.1", "leaves_out", "-", None, True),
    ]


def test_a_variant_runs_among_the_names_of_its_reference(file: pathlib.Path) -> None:
    """The reference's functions see what the variant binds, and each variant has a reference of its own."""
    reference, same, adds_two, leaves_out = read(file)
    assert [s.variables()["answer"](1) for s in (adds_two, same, reference)] == [3, 2, 2]
    assert "answer" not in leaves_out.variables()
    assert "variants" not in adds_two.source() and adds_two.source().count("def helper") == 2


def test_predictions_are_the_variants_own(file: pathlib.Path) -> None:
    """One that predicts makes none of the reference's predictions, and `...` is none."""
    _, same, _, leaves_out = read(file)
    for sample, predicted in ((same, {"sum": 1, "kind": "a"}), (leaves_out, {})):
        in_the_box.GIVEN.clear()
        sample.variables()
        assert in_the_box.GIVEN["0.1"] == predicted


def test_an_error_shows_the_line(file: pathlib.Path) -> None:
    """A function of a variant lies where it is written."""
    code = read(file)[2].variables()["helper"].__code__
    assert (code.co_filename, FILE.splitlines()[code.co_firstlineno - 1]) == (str(file), "    def helper(n):")


def test_a_name_is_given_once(file: pathlib.Path) -> None:
    """Tests are named by it."""
    file.write_text(FILE.replace("def adds_two", "def as_it_is"))
    with pytest.raises(ValueError, match=r"0.1.py: two answers are named as_it_is"):
        read(file)


@pytest.mark.parametrize(
    "body, left",
    [
        pytest.param("def far(n): return n", NAMES - {"far"}, id="bound"),
        pytest.param("def base(n): return 2 * n", {"far", "sizes", "sized"}, id="used"),
        pytest.param("P = None", NAMES - {"far"}, id="alias"),
        pytest.param("import jax", NAMES - {"far"}, id="imported again"),
        pytest.param("sizes['a'] = 2", {"base", "near", "far"}, id="entry"),
        pytest.param("del sizes['a']", {"base", "near", "far"}, id="entry taken away"),
        pytest.param("more = dict(sizes)", {"base", "near", "far"}, id="beside a call"),
        pytest.param("more = jax.jit(near)", {"far", "sizes", "sized"}, id="called"),
        pytest.param("if True:\n    def base(n): return 2", {"far", "sizes", "sized"}, id="bound in a block"),
        pytest.param("def more(n): return sizes.pop(n)", NAMES, id="not run"),
        pytest.param("def more(n=sizes.pop('a')): return n", {"base", "near", "far"}, id="run in a default"),
        pytest.param("def more():\n    global base\n    base = 1", set(), id="global"),
        pytest.param("globals()['base'] = 1", set(), id="by its text"),
        pytest.param("jax.config.update('jax_enable_x64', True)", set(), id="setting"),
        pytest.param("jax.P = None", set(), id="attribute"),
        pytest.param("from math import *", set(), id="star"),
    ],
)
def test_what_a_variant_leaves_as_it_is(body: str, left: set[str]) -> None:
    """Only names which nothing in the body binds or may change, nor anything that they use."""
    assert untouched(ast.parse(REFERENCE).body, ast.parse(body).body, NAMES) == left


def test_every_file_is_of_a_question() -> None:
    """No file is left behind when a question goes."""
    from shardlab_course.chapters import QUESTIONS

    assert {path.stem for path in FOLDER.glob("*.py")} == set(QUESTIONS)
