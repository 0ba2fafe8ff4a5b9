"""Editions: what a student gets of each kind of region, what the files hold, and what an author is told."""

from __future__ import annotations

import dataclasses
import json
import pathlib

import jupytext
import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from shardlab.errors import ShardlabError
from shardlab_course.editions import edition, header
from shardlab_course.editions.stub import stub, unmark

from .conftest import QUESTIONS, SYLLABUS, TINY

Capture = pytest.CaptureFixture[str]
STUBS = {
    "in a function": (
        "def f(x):\n    '''Doc.'''\n    ### BEGIN SOLUTION\n    y = 2\n    return x * y\n    ### END SOLUTION",
        "def f(x):\n    '''Doc.'''\n    return ...  # TODO",
    ),
    "in a nested function": (
        "def f(m):\n    def g(x):\n        ### BEGIN SOLUTION\n        return m\n        ### END SOLUTION\n    return g",
        "def f(m):\n    def g(x):\n        return ...  # TODO\n    return g",
    ),
    "a name": ("### BEGIN SOLUTION\nx = jax.P('a')\n### END SOLUTION", "x = ...  # TODO"),
    "an annotated name": ("### BEGIN SOLUTION\nx: int = 3\n### END SOLUTION", "x: int = ...  # TODO"),
    "names at once": ("### BEGIN SOLUTION\na, b = 1, 2\n### END SOLUTION", "a = ...  # TODO\nb = ...  # TODO"),
    "a name twice": ("### BEGIN SOLUTION\na = 1\na = a + 1\n### END SOLUTION", "a = ...  # TODO"),
    "a private name": ("### BEGIN SOLUTION\n_n = 1\na = _n\n### END SOLUTION", "a = ...  # TODO"),
    "a dict": (
        "### BEGIN SOLUTION\nd = {\n    'A': 1,  # why\n    \"B\": [2],\n}\n### END SOLUTION",
        "d = {\n    'A': ...,  # TODO\n    \"B\": ...,  # TODO\n}",
    ),
    "two dicts with the same keys": (
        "### BEGIN SOLUTION\nd = {'A': 1}\ne = {'A': 2}\n### END SOLUTION",
        "d = {\n    'A': ...,  # TODO\n}\ne = {\n    'A': ...,  # TODO\n}",
    ),
    "an empty dict": ("### BEGIN SOLUTION\nd = {}\n### END SOLUTION", "d = ...  # TODO"),
    "a prediction": (
        '### BEGIN SOLUTION\nsl.predict("4.5", kinds=["all-reduce"], n=3)\n### END SOLUTION',
        'sl.predict("4.5", kinds=..., n=...)  # TODO',
    ),
    "a long prediction": (
        '### BEGIN SOLUTION\nsl.predict("4.5", all_reduce_bytes=1, all_gather_bytes=2, reduce_scatter_bytes=3)\n'
        "### END SOLUTION",
        'sl.predict(\n    "4.5",\n    all_reduce_bytes=...,  # TODO\n    all_gather_bytes=...,  # TODO\n'
        "    reduce_scatter_bytes=...,  # TODO\n)",
    ),
    "a whole function": (
        '### BEGIN SOLUTION\ndef f(x: int) -> int:\n    """Doc."""\n    return x\n\ndef _g(): return 1\n### END SOLUTION',
        'def f(x: int) -> int:\n    """Doc."""\n    return ...  # TODO',
    ),
    "a whole function without a docstring": (
        "### BEGIN SOLUTION\ndef f(x):\n    return x\n### END SOLUTION",
        "def f(x):\n    return ...  # TODO",
    ),
    "a decorated function of two spaces": (
        "### BEGIN SOLUTION\n@jax.jit\n@partial(g, n=1)\ndef f(x):\n  return x\n### END SOLUTION",
        "@jax.jit\n@partial(g, n=1)\ndef f(x):\n  return ...  # TODO",
    ),
    "a function in one line": (
        "### BEGIN SOLUTION\ndef f(é='é'): return 2 * é\n### END SOLUTION",
        "def f(é='é'):\n    return ...  # TODO",
    ),
    "a documented function in one line": (
        "### BEGIN SOLUTION\ndef f(\n    x,\n): 'Doc.'; return 2 * x\n### END SOLUTION",
        "def f(\n    x,\n):\n    'Doc.'\n    return ...  # TODO",
    ),
    "comments above the first statement": (
        "### BEGIN SOLUTION\ndef f(x):\n    # twice\n\n    return x\n### END SOLUTION",
        "def f(x):\n    return ...  # TODO",
    ),
    "comments around a docstring": (
        "### BEGIN SOLUTION\ndef f(x):\n    # a\n    '''Doc.\n\n    More.'''; y = 1  # b\n    # c\n    return y\n"
        "### END SOLUTION",
        "def f(x):\n    '''Doc.\n\n    More.'''\n    return ...  # TODO",
    ),
    "a decorated function inside": (
        "### BEGIN SOLUTION\ndef f(x):\n    @jax.jit\n    def g():\n        return x\n    return g\n### END SOLUTION",
        "def f(x):\n    return ...  # TODO",
    ),
    "targets that are no names": (
        "### BEGIN SOLUTION\nd[i] = 4\na.b = 1\n(x, [y, *z]), _ = c.d, e[k] = 1\n### END SOLUTION",
        "x = ...  # TODO\ny = ...  # TODO\nz = ...  # TODO",
    ),
    "a private dict and a private annotated name": (
        "### BEGIN SOLUTION\n_d = {'A': 1}\n_n: int = 1\nx = _n\n### END SOLUTION",
        "x = ...  # TODO",
    ),
    "inside with": (
        "with jax.set_mesh(mesh):\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION",
        "with jax.set_mesh(mesh):\n    x = ...  # TODO",
    ),
    "two regions and a magic": (
        "%time 1\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\nprint(x)\n### BEGIN SOLUTION\ny = 2\n### END SOLUTION",
        "%time 1\nx = ...  # TODO\nprint(x)\ny = ...  # TODO",
    ),
}
MISTAKES = {
    "no end": ("### BEGIN SOLUTION\nx = 1", "unbalanced-solution-markers"),
    "no begin": ("x = 1\n### END SOLUTION", "unbalanced-solution-markers"),
    "nested": ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "unbalanced-solution-markers"),
    "marker after code": ("x = 1  ### BEGIN SOLUTION\n### END SOLUTION", "unbalanced-solution-markers"),
    "no name to keep": ("### BEGIN SOLUTION\nd[0] = 4\n### END SOLUTION", "region-without-stub"),
    "nothing to keep": ("### BEGIN SOLUTION\nprint(1)\n### END SOLUTION", "region-without-stub"),
    "stub does not compile": ("if x:\n    return 1\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION", "cell-does-not-parse"),
    "not python": ("### BEGIN SOLUTION\nx = = 1\n### END SOLUTION", "cell-does-not-parse"),
    "cut statement": ("x = (\n### BEGIN SOLUTION\n1)\n### END SOLUTION", "cell-does-not-parse"),
}


@pytest.mark.parametrize(("source", "expected"), STUBS.values(), ids=STUBS)
def test_a_region_becomes_a_stub(source: str, expected: str) -> None:
    """A student gets the names to fill in, and nothing of the solution."""
    assert stub(source, "here") == expected


@pytest.mark.parametrize(("source", "reference"), MISTAKES.values(), ids=MISTAKES)
def test_a_broken_region_is_named(source: str, reference: str) -> None:
    """A region that cannot become a stub says where it is."""
    with pytest.raises(ShardlabError) as error:
        stub(source, "chapter.md, code cell 3")
    assert error.value.reference == reference
    assert error.value.where.startswith("chapter.md, code cell 3")


def test_a_message_is_told_whole() -> None:
    """The author reads what is wrong, where, and how to mend it."""
    with pytest.raises(ShardlabError) as error:
        stub("x = 1\n### END SOLUTION", "90.md, code cell 2 (x = 1)")
    assert str(error.value) == (
        "[unbalanced-solution-markers] a solution region does not open and close.\n"
        "  where: 90.md, code cell 2 (x = 1), line 2: ### END SOLUTION\n"
        "  mend:  write each '### BEGIN SOLUTION' and the '### END SOLUTION' after it on lines of their own; "
        "regions do not nest."
    )


def test_a_solution_keeps_everything_but_the_markers() -> None:
    """The solution edition is the source without marker lines."""
    assert unmark("def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION") == "def f():\n    return 1"


def test_cells_carry_nbgrader_metadata(source: edition.NotebookNode) -> None:
    """Solution cells belong to the next grade cell, which has the declared points."""
    marked = [cell.metadata.nbgrader for cell in source.cells if "nbgrader" in cell.metadata]
    MetadataValidator().validate_nb(source)
    assert [mark.grade_id for mark in marked] == ["q90-1-answer", "q90-1", "q90-2-answer", "q90-2-answer-2", "q90-2"]
    assert [mark.get("points") for mark in marked] == [None, 2, None, None, 1.5]
    assert [mark.locked for mark in marked] == [False, True, False, False, True]
    assert edition.questions(source) == ("90.1", "90.2")


def test_a_student_edition_holds_no_solution(source: edition.NotebookNode) -> None:
    """No marker and no line of a solution is in either file, metadata included."""
    notebook = edition.student(source)
    for text in (edition.to_md(notebook), edition.to_ipynb(notebook)):
        assert not [word for word in ("SOLUTION", "2 * n", "all-reduce", "= 3") if word in text]


def test_the_ipynb_is_what_colab_and_nbgrader_open(source: edition.NotebookNode) -> None:
    """It is a valid notebook with a kernelspec, unique ids and no outputs."""
    raw = json.loads(edition.to_ipynb(edition.student(source)))
    nbformat.validate(nbformat.from_dict(raw))
    assert set(raw["metadata"]) == {"kernelspec", "language_info"}
    assert not any(cell.get("outputs") for cell in raw["cells"])
    ids = [cell["id"] for cell in raw["cells"]]
    assert len(set(ids)) == len(ids)


def test_cells_that_count_cannot_be_deleted(source: edition.NotebookNode) -> None:
    """Answers and checks, and no others."""
    cells = edition.student(source).cells
    assert [cell.id for cell in cells if cell.metadata.get("deletable") is False] == [
        cell.id for cell in cells if "nbgrader" in cell.metadata
    ]


def test_both_files_hold_the_same_notebook(source: edition.NotebookNode) -> None:
    """The `.md` reads back as the cells of the `.ipynb`, and its header names no version."""
    notebook = edition.student(source)
    text = edition.to_md(notebook)
    back = jupytext.reads(text, fmt=edition.MYST)
    first, second = ([(c.cell_type, c.source, c.metadata) for c in one.cells] for one in (back, notebook))
    assert first == second
    assert text.startswith(edition.HEADER)


def test_the_first_cell_installs_only_what_is_missing(source: edition.NotebookNode) -> None:
    """The generated first cell is legal IPython and names the repository's address."""
    first = next(cell for cell in source.cells if cell.cell_type == "code").source
    installs = '%pip install -qU "shardlens @ {at}#subdirectory=lens" "shardlab{tpu} @ {at}" jax\n'
    assert f'"git+{SYLLABUS.address}@v0"\n    {installs}' in first
    assert first.endswith("sl.setup(8)")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        pytest.param("    %pip install -q flax", '    %pip install -q "flax<=0.12.12"', id="pinned"),
        pytest.param("%pip install -q other", "%pip install -q other", id="without a pin"),
        pytest.param("%pip install -q flax==0.11", "%pip install -q flax==0.11", id="the author's own version"),
        pytest.param("%pip install -q flax orbax", "%pip install -q flax orbax", id="more than one"),
    ],
)
def test_what_a_cell_installs_is_bounded(line: str, told: str) -> None:
    """A line that installs one pinned package gets its newest version as a bound; every other line stays."""
    given = dataclasses.replace(SYLLABUS, pins={"flax": "0.12.12"})
    assert header.expand(f"try:\n{line}\nexcept", "90_tiny", given, "") == f"try:\n{told}\nexcept"


def test_an_exercise_says_what_it_asks() -> None:
    """Heading, stars, minutes, what is checked, and the way to a hint."""
    assert header.exercise(QUESTIONS[1]) == (
        "## Exercise 90.2: Parts\n\n★☆☆ · 5 minutes · checked: prediction, formula · stuck? `sl.hint(90.2)`"
    )


def test_a_repository_elsewhere_has_no_badge() -> None:
    """Colab opens notebooks from GitHub only."""
    assert header.badges("90_tiny", "https://git.example.org/shardlab") == ""


CHANGES = {
    "unknown question in a grade cell": ('sl.check("90.2"', 'sl.check("90.9"', "unknown-question"),
    "unknown question in a header": ("<!-- exercise 90.2 -->", "<!-- exercise 90.9 -->", "unknown-question"),
    "question without a grade cell": ('sl.check("90.2", parts)', "parts", "region-without-grade-cell"),
    "two grade cells": ('sl.check("90.2", parts)', 'sl.check("90.1", parts)', "not-a-grade-cell"),
    "solution in a grade cell": (
        'sl.check("90.1", double)',
        'sl.check("90.1", double)\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION',
        "not-a-grade-cell",
    ),
}


@pytest.mark.parametrize(("old", "new", "reference"), CHANGES.values(), ids=CHANGES)
def test_an_author_is_told(old: str, new: str, reference: str, tmp_path: pathlib.Path) -> None:
    """Questions, regions and grade cells that do not fit each other are refused."""
    path = tmp_path / TINY.name
    path.write_text(TINY.read_text().replace(old, new))
    with pytest.raises(ShardlabError) as error:
        edition.source(path, SYLLABUS)
    assert error.value.reference == reference


def test_a_declared_question_needs_a_grade_cell(tmp_path: pathlib.Path) -> None:
    """A question of the chapter that the chapter does not ask is named."""
    path = tmp_path / TINY.name
    path.write_text(TINY.read_text().partition("<!-- exercise 90.2 -->")[0])
    with pytest.raises(ShardlabError, match="no grade cell for question 90.2"):
        edition.source(path, SYLLABUS)


def test_writing_twice_changes_nothing(tiny: pathlib.Path) -> None:
    """The second run finds both files as they should be, ids included."""
    assert [path.name for path in edition.write(tiny)] == ["90_tiny.ipynb", "90_tiny.md"]
    assert edition.write(tiny) == edition.stale(tiny) == []


def test_what_is_edited_or_unknown_is_stale(tiny: pathlib.Path) -> None:
    """A changed edition and a notebook without a source are found, and mended by writing."""
    edition.write(tiny)
    (tiny / "notebooks" / "myst" / "90_tiny.md").write_text("edited")
    (tiny / "notebooks" / "90_tiny.md").write_text("as it lay beside its notebook")
    (tiny / "notebooks" / "91_lost.ipynb").write_text("{}")
    assert [path.name for path in edition.stale(tiny)] == ["90_tiny.md", "91_lost.ipynb", "90_tiny.md"]
    edition.write(tiny)
    assert edition.stale(tiny) == []


def test_a_cell_in_front_leaves_the_other_ids(tmp_path: pathlib.Path, source: edition.NotebookNode) -> None:
    """Ids come from the cells, not from their places."""
    path = tmp_path / TINY.name
    path.write_text(TINY.read_text().replace("# A tiny chapter", "# A tiny chapter\n\n+++\n\nMore."))
    before, after = ([cell.id for cell in notebook.cells] for notebook in (source, edition.source(path, SYLLABUS)))
    assert set(before[1:]) < set(after)


def test_the_command_writes_then_checks(tiny: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """`--check` fails until the files are written, and names them."""
    monkeypatch.chdir(tiny)
    assert edition.main(["--check"]) == 1
    assert edition.main([]) == 0
    assert edition.main(["--check"]) == 0
    stale, wrote = (f"{word} notebooks/90_tiny.ipynb\n{word} notebooks/myst/90_tiny.md\n" for word in ("stale", "wrote"))
    assert capsys.readouterr().out == stale + wrote


def test_outside_the_repository_it_says_so(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The command names the missing pyproject.toml and fails."""
    monkeypatch.chdir(tmp_path)
    assert edition.main(["--check"]) == 1
    assert capsys.readouterr().err.startswith("[no-course-here] the address of the course is not known.")
