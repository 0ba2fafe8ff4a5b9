"""The border of notebooks without a sandbox: what is found in each damaged one, and what becomes of the rest."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import time

import nbformat
import pytest

from shardlab_course.editions import edition
from shardlab_course.editions.header import Syllabus
from shardlab_grader.classes.restore import job_cells, restore
from shardlab_grader.nbgrader import pages, rendered
from shardlab_grader.records.forms import Unreadable, handed_in, parse
from shardlab_grader.records.submissions import each, stage

from . import notebooks
from .cases import NAME, RIGHT, Case, Notebook, answered
from .harness import HERE
from .names import MARKDOWN
from .pages import dangers

DAMAGED = {case.name: case for case in notebooks.CASES}
FOUND = {name: case for name, case in DAMAGED.items() if case.points == notebooks.POINTS}
LOST = {name: case for name, case in DAMAGED.items() if case.status == "ungraded"}


@pytest.fixture(scope="module")
def released() -> Notebook:
    """The small chapter as students get it."""
    spec = importlib.util.spec_from_file_location("declared", HERE / "course" / "declared.py")
    assert spec is not None and spec.loader is not None
    declared = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(declared)
    given = Syllabus({one.id: one for one in declared.QUESTIONS}, "https://github.com/owner/course")
    source = edition.source(HERE / "course" / f"{NAME}.md", given)
    return json.loads(json.dumps(edition.student(source)))


@pytest.fixture
def course(tmp_path: pathlib.Path, released: Notebook) -> pathlib.Path:
    """A course directory with one honest submission."""
    for student in ("aaa-honest", "eve"):
        (tmp_path / "course" / "submitted" / student / NAME).mkdir(parents=True)
    place = tmp_path / "course" / "release" / NAME
    place.mkdir(parents=True)
    (place / f"{NAME}.ipynb").write_text(json.dumps(released))
    path = tmp_path / "course" / "submitted" / "aaa-honest" / NAME / f"{NAME}.ipynb"
    path.write_text(json.dumps(answered(released, "all")))
    return tmp_path / "course"


def hand_in(course: pathlib.Path, case: Case, released: Notebook) -> None:
    """Put a case's files where eve's are."""
    case.hand_in(course / "submitted" / "eve" / NAME, released)


def sources(content: bytes, released: Notebook) -> list[str]:
    """The code that would run, with the grade cells as their questions' ids."""
    restored = restore(parse(handed_in(content)), nbformat.from_dict(released))
    nbformat.validate(restored)
    return [cell.question or cell.source for cell in job_cells(restored)]


@pytest.mark.parametrize("name", FOUND)
def test_cells_are_found(name: str, course: pathlib.Path, released: Notebook) -> None:
    """Every answer is there once the notebook is restored, and each question is asked once."""
    hand_in(course, FOUND[name], released)
    (found,) = each(course, NAME, "eve")
    assert not found.problem
    run = sources(found.content, released)
    for answer in RIGHT.values():
        assert any(answer in source for source in run), f"{answer} is lost"
    assert sorted(source for source in run if source.startswith("90.")) == ["90.1", "90.2", "90.3", "90.4"]
    assert handed_in(found.content) == found.content


@pytest.mark.parametrize("name", LOST)
def test_the_rest_has_a_reason(name: str, course: pathlib.Path, released: Notebook) -> None:
    """What cannot be graded says why, in a sentence, within seconds of CPU time; and nothing of it is staged."""
    hand_in(course, LOST[name], released)
    started = time.process_time()
    (found,) = each(course, NAME, "eve")
    assert LOST[name].reason in found.problem and found.problem.endswith(".")
    with pytest.raises(Unreadable):
        stage(course, NAME, "eve", course / "staged")
    assert time.process_time() - started < 20
    assert not (course / "staged").exists()


@pytest.mark.parametrize("name", ["links-beside", "pipe-beside", "sparse-beside"])
def test_only_the_notebook_is_staged(name: str, course: pathlib.Path, released: Notebook) -> None:
    """nbgrader is shown nothing that lies beside it, and nothing that a link leads to."""
    hand_in(course, DAMAGED[name], released)
    stage(course, NAME, "eve", course / "staged")
    assert os.listdir(course / "staged") == [f"{NAME}.ipynb"]


def test_the_time_is_staged(course: pathlib.Path, released: Notebook) -> None:
    """For late penalties."""
    hand_in(course, FOUND["utf-16"], released)
    (course / "submitted" / "eve" / NAME / "timestamp.txt").write_text("2026-11-21 12:00:00 UTC\n")
    stage(course, NAME, "eve", course / "staged")
    assert (course / "staged" / "timestamp.txt").read_text() == "2026-11-21 12:00:00 UTC"


def test_outputs_do_not_change_the_key(released: Notebook) -> None:
    """Two notebooks with the same words are one, whatever they printed and who wrote them."""
    plain, printed = answered(released, "all"), answered(released, "all")
    notebooks.hostile_outputs(printed)
    printed["metadata"] = {"authors": ["eve"]}
    assert handed_in(json.dumps(plain).encode()) == handed_in(json.dumps(printed, indent=3).encode())


def test_looking_for_cells_ends() -> None:
    """A file that was made to be slow to look through is not."""
    started = time.process_time()
    for text in ('{"source": ' * 10_000, '{"id": [' + "1," * 10**6, '{"cells": {' * 300 + '"' * 10**6):
        with pytest.raises(Unreadable):
            handed_in(text.encode())
    assert time.process_time() - started < 20


def test_prose_is_plain_text_to_nbgrader(released: Notebook) -> None:
    """On nbgrader's own pages a student's Markdown is a block of text; the release's is Markdown."""
    notebook = answered(released, "all")
    notebook["cells"].insert(1, {"cell_type": "markdown", "id": "m", "metadata": {}, "source": f"{MARKDOWN}\n````\n</pre>"})
    notebook["cells"].insert(1, {"cell_type": "raw", "id": "r", "metadata": {}, "source": MARKDOWN})
    ours = nbformat.from_dict(released)
    restored = pages.inert(restore(parse(handed_in(json.dumps(notebook).encode())), ours), ours)
    nbformat.validate(restored)
    for cell in restored.cells[1:3]:
        fence = "`" * (5 if "````" in cell.source.strip("`") else 3)
        assert (
            cell.cell_type == "markdown" and cell.source.startswith(f"{fence}text\n") and cell.source.endswith(f"\n{fence}")
        )
        assert pages.markdown(cell.source).count("<pre>") == 1
    assert restored.cells[0].source == ours.cells[0].source


def test_rendered_prose_is_harmless() -> None:
    """What is Markdown all the same keeps its words and its formulas, and loses what runs or fetches."""
    shown = pages.markdown(
        f"{MARKDOWN}\n\nA **word**, `a < b`, a sum $\\sum_i x_i < 3$:\n\n$$\\frac{{a}}{{b}}$$\n\n$\\unknown{{$ and a | b |\n"
    )
    assert dangers(shown) == []
    assert "<strong>word</strong>" in shown and "<code>a &lt; b</code>" in shown and "<mfrac>" in shown


DISGUISED = (
    '<a href="JaVaScRiPt:alert(1)">x</a>',
    '<a href="java\tscript:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="\x01javascript:alert(1)">x</a>',
    '<a href="d\nata:text/html,<script>1</script>">x</a>',
    '<img src="data:image/svg+xml;base64,PHN2Zz4=">',
    '<img src="data:image/png;base64,AA==" onload=alert(1) srcset="//evil.example 1x">',
    "<<script>alert(1)//<</script>",
    '<img """><script>alert(1)</script>">',
    "<!--><img src=x onerror=alert(1)>-->",
    '<xmp><p title="</xmp><img src=x onerror=alert(1)>">',
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    '<math><annotation-xml encoding="text/html"><script>alert(1)</script></annotation-xml></math>',
    '<math><maction actiontype="statusline#http://x" xlink:href="javascript:alert(1)">x</maction></math>',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    '<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=alert(1) src>">',
    '<math><mtext><h1><a><h6></a></h6><mglyph><svg><mtext><style><a title="</style><img src onerror=alert(1)>"></style></h1>',
    "$\\text{<img src=x onerror=alert(1)>}$",
)
"""Scripts and addresses in disguise, and what browsers read in two ways."""


@pytest.mark.parametrize("source", DISGUISED)
def test_disguised_prose_is_harmless(source: str) -> None:
    """Nothing that runs or fetches is left, neither now nor when a browser's corrected form of the page is read again."""
    shown = pages.markdown(source)
    assert dangers(shown) == dangers(rendered.CLEANER.clean(shown)) == []
    assert not any(f'href="{scheme}' in shown.lower() for scheme in ("data:", "javascript:"))
