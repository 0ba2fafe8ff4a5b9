"""What feedback pages and Formgrader make of a chapter's text."""

from __future__ import annotations

import pathlib
import re
import shutil

import nbformat
import pytest
from traitlets.config import Config

from shardlab_course.editions import edition, header
from shardlab_grader import nbgrader_plugin
from shardlab_grader.classes import stages
from shardlab_grader.nbgrader import doors, pages

from .conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_directive_of_myst_is_left(path: pathlib.Path) -> None:
    """Of a released chapter, of which these pages show every cell."""
    texts = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    assert any(":::{" in text for text in texts)
    shown = "\n".join(pages.markdown(text) for text in texts)
    assert not re.search(r":::|:class:|^\(\S+\)=|\{\w+\}<code>", shown, re.MULTILINE)


def test_an_admonition_is_a_quotation() -> None:
    """With its title, or its kind; a list in it is one; what is not closed stays text."""
    text = "a\n\n:::{admonition} In *this* chapter\n:class: tip\n- `x`\n:::\n\n:::{note}\nb\n:::\n\n:::{note}\nc"
    found = " ".join(pages.markdown(text).split())
    titled = "<p><strong>In <em>this</em> chapter</strong></p> <ul> <li><code>x</code></li> </ul>"
    assert found == (
        f"<p>a</p> <blockquote> {titled} </blockquote> <blockquote> <p><strong>Note</strong></p> <p>b</p> </blockquote>"
        " <p>:::{note} c</p>"
    )


def test_exercises_have_their_titles() -> None:
    """In the list and at the grade cell; of our headings only, since a student's text is fenced by then."""
    mark = {
        "grade_id": "q4-2",
        "grade": True,
        "solution": False,
        "points": 2,
        "score": 1,
        "locked": True,
        "schema_version": 3,
    }
    cells = [
        nbformat.v4.new_markdown_cell("```text\n## Exercise 4.2: Mine\n```"),
        nbformat.v4.new_markdown_cell("## Exercise 4.2: You <are> the compiler\n\n★★☆"),
        nbformat.v4.new_code_cell('sl.check("4.2", f)', metadata={"nbgrader": mark}),
    ]
    for cell in cells[:2]:
        cell.metadata["nbgrader"] = {}
    page = (
        '<li><a href="#q4-2">Test cell</a> (Score: 1.0 / 2.0)</li><li><a href="#q4-20">Test cell</a></li>'
        '<span class="nbgrader-label">Grade cell: <code>q4-2</code></span>'
    )
    title = "4.2 You &lt;are&gt; the compiler"
    assert pages.titled(page, nbformat.v4.new_notebook(cells=cells)) == (
        f'<li><a href="#q4-2">{title}</a> (Score: 1.0 / 2.0)</li><li><a href="#q4-20">Test cell</a></li>'
        f'<span class="nbgrader-label">{title} <code>q4-2</code></span>'
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_feedback_page_is_small(path: pathlib.Path) -> None:
    """Below 100 kB with every answer of the solution, and each exercise has its title, also where prose precedes it."""
    source = edition.source(ROOT / "solutions" / f"{path.stem}.md", header.syllabus(ROOT))
    solved, released = edition.solution(source), nbformat.read(path, as_version=4)
    notebook = pages.inert(solved, released)
    graded = [mark for cell in notebook.cells if (mark := cell.metadata.get("nbgrader"))]
    for mark in graded:
        mark.update(score=0.5, points=mark.get("points", 0), comment=None)
    page = shown(notebook)
    assert len(page.encode()) < 100_000
    assert "Test cell" not in page and "getbootstrap.com" not in page
    assert page.count("Student's answer") == sum(bool(mark.get("solution")) for mark in graded)


def shown(notebook: nbformat.NotebookNode) -> str:
    """The feedback page that nbgrader makes of an autograded notebook."""
    config = Config()
    nbgrader_plugin.configure(config)
    exporter = pages.Page(config=config, template_name="feedback")
    exporter.extra_template_basedirs = [str(pages.TEMPLATES), doors.TEMPLATES]
    told = {"notebook": "n", "assignment": "n", "student": "s", "score": 1.0, "max_score": 2.0, "late_penalty": 0.0}
    page, _ = exporter.from_notebook_node(notebook, {"nbgrader": told})
    return page


@pytest.mark.thorough
@pytest.mark.browser
def test_a_score_stays_in_its_heading_on_a_phone(tmp_path: pathlib.Path) -> None:
    """Also under a title that takes two lines there, and nothing makes the page wider."""
    from playwright.sync_api import sync_playwright

    mark = {"grade": True, "solution": False, "grade_id": "q4-2", "points": 12.25, "score": 10.75}
    cells = [nbformat.v4.new_markdown_cell("## Exercise 4.2: A title of six words or so"),
             nbformat.v4.new_code_cell("check()", metadata={"nbgrader": mark})]  # fmt: skip
    (tmp_path / "a.html").write_text(shown(nbformat.v4.new_notebook(cells=cells)))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto(f"file://{tmp_path}/a.html")
        heading, score = (page.locator(one).bounding_box() for one in (".nbgrader_cell .panel-heading", ".pull-right"))
        wide = page.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert heading and score and wide <= 390 and heading["height"] > 40
    assert score["y"] + score["height"] <= heading["y"] + heading["height"]


def test_a_page_is_known_by_its_verdict(tmp_path: pathlib.Path) -> None:
    """By the key of the verdict at its end; a page of another verdict, or of none, is written again."""
    key, other = "0a" * 32, "0b" * 32
    page = tmp_path / "page.html"
    for verdict, tells in ((key, True), (other, False), ("", False)):
        page.write_text("<p>text</p>\n" * 100 + pages.of_verdict(verdict))
        assert stages._tells(page, key) is tells
    assert pages.of_verdict("--><script>") == "" and not stages._tells(tmp_path / "none.html", key)


def test_a_page_has_what_is_the_students() -> None:
    """Every cell that was added or changed, wherever it stands; of what was given, each exercise from its heading on."""
    markdown, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    mark = {"grade": True, "solution": False, "grade_id": "q4-2", "points": 2, "score": 1.0}
    answer = {"grade": False, "solution": True, "grade_id": "q4-2-answer", "comment": None}
    given = [markdown("A lecture."), code("show(given)"), markdown("More of it.\n\n## Exercise 4.2: Do\n\nWrite it."),
             code("helper = 1"), code("...", metadata={"nbgrader": answer}), code("check()", metadata={"nbgrader": mark}),
             markdown("Another lecture."), code("show(more)")]  # fmt: skip
    released = nbformat.v4.new_notebook(cells=given)
    mine = [*given[:1], code("my_try = 2"), *given[1:4], code("answer = 3", metadata={"nbgrader": answer}), *given[5:7],
            code("show(mine)"), markdown("## Exercise 4.9: Mine")]  # fmt: skip
    page = shown(pages.inert(nbformat.v4.new_notebook(cells=mine), released))
    text = re.sub(r"<[^>]+>", "", page)
    for said in (
        "my_try = 2",
        "Exercise 4.2: Do",
        "helper = 1",
        "answer = 3",
        "show(mine)",
        "## Exercise 4.9: Mine",
        "Exercises, and",
    ):
        assert said in text
    for said in ("lecture", "show(given)", "More of it"):
        assert said not in text
