"""What feedback pages and Formgrader make of a chapter's text."""

from __future__ import annotations

import pathlib
import re

import nbformat
import pytest
from shardlab_grader.nbgrader import pages

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_directive_of_myst_is_left(path: pathlib.Path) -> None:
    """Of a released chapter, of which these pages show every cell."""
    texts = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    assert any(":::{" in text for text in texts)
    shown = "\n".join(pages.markdown(text) for text in texts)
    assert not re.search(r":::|^\(\S+\)=|\{\w+\}<code>", shown, re.MULTILINE)


def test_an_admonition_is_a_quotation() -> None:
    """With its title, or its kind; a list in it is one; what is not closed stays text."""
    text = "a\n\n:::{admonition} In *this* chapter\n- `x`\n:::\n\n:::{note}\nb\n:::\n\n:::{note}\nc"
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
        nbformat.v4.new_markdown_cell("## Exercise 4.2: You <are> the compiler\n\n●●○○○"),
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
