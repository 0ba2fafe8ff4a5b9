"""A student's way through JupyterLab, in a real browser: open a chapter, be wrong, read why, be right, validate."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import pytest
from playwright.sync_api import Page, TimeoutError, expect

from shardlab_course.outline import NOTEBOOKS

from .conftest import ROOT, Open

CHAPTER = "04_four_matmul_cases"
WRONG = "def classify(einsum, left, right):\n    return 3"
IDLE = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
FIND = """text => jupyterapp.shell.currentWidget.content.widgets.findIndex(
                       cell => cell.model.sharedModel.source.includes(text))"""
SELECT = """async index => { const notebook = jupyterapp.shell.currentWidget.content;
                             notebook.deselectAll();
                             notebook.activeCellIndex = index;
                             await notebook.scrollToItem(index, 'center');
                             await notebook.activeCell.ready;  // its editor is made when it is first seen
                             notebook.mode = 'edit'; notebook.activeCell.editor.focus() }"""
SOURCE = "index => jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel.source"
OUTPUT = """index => { const cell = jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel;
                       return JSON.stringify(cell.outputs) }"""

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def solution() -> str:
    """The chapter's own `classify`, as a student would type it."""
    cells = jupytext.read(ROOT / "solutions" / f"{CHAPTER}.md").cells
    (source,) = (cell.source for cell in cells if "def classify(" in cell.source and "BEGIN SOLUTION" in cell.source)
    return re.sub(r"^ *### (BEGIN|END) SOLUTION\n?", "", source, flags=re.MULTILINE)


def select(page: Page, text: str) -> int:
    """Makes the cell with this text the active one; its number."""
    # A kernel may be idle before JupyterLab has made every cell.
    page.wait_for_function(f"text => ({FIND})(text) >= 0", arg=text)
    index = page.evaluate(FIND, text)
    page.evaluate(SELECT, index)
    return index


def retype(page: Page, text: str, source: str) -> None:
    """Types a cell anew and runs it."""
    index = select(page, text)
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(source)
    assert page.evaluate(SOURCE, index) == source
    page.keyboard.press("Shift+Enter")


def run_all_above(page: Page) -> None:
    """Chooses it from the menu, once more when the menu was opened before the notebook had taken the selection."""
    item = page.get_by_role("menuitem", name=re.compile("Run All Above"))
    for _ in range(20):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        if item.is_enabled():
            return item.click()
        page.keyboard.press("Escape")
        page.wait_for_timeout(500)
        select(page, "def classify(")
    raise AssertionError("Run All Above stays disabled")


def told(page: Page, text: str, expected: str) -> str:
    """What the cell with this text shows, once it shows `expected`."""
    index = select(page, text)
    page.keyboard.press("Shift+Enter")
    try:
        page.wait_for_function(f"([index, text]) => ({OUTPUT})(index).includes(text)", arg=[index, expected])
    except TimeoutError as error:
        raise AssertionError(f"no {expected!r} in {page.evaluate(OUTPUT, index)}") from error
    return page.evaluate(OUTPUT, index)


@pytest.mark.thorough
def test_a_student_is_wrong_then_right_then_validates(opened: Open, course: Path) -> None:
    """The whole way of one exercise; Validate then names the other exercises, and not this one."""
    page = opened(f"lab/tree/{CHAPTER}.ipynb")
    page.wait_for_function(IDLE)
    select(page, "def classify(")
    run_all_above(page)
    check = 'sl.check("4.1"'
    retype(page, "def classify(", WRONG)
    diagnosis = told(page, check, "not yet")
    assert "4.1" in diagnosis and "expected" in diagnosis
    retype(page, "def classify(", solution())
    told(page, check, "✓ 4.1")
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("failed", timeout=120_000)
    words = dialog.inner_text()
    assert 'sl.check("4.2"' in words and "Not attempted yet" in words and check not in words


def test_a_myst_file_opens_as_a_notebook(opened: Open) -> None:
    """A double click on the `.md` of a chapter, in the folder of its own, gives cells that run."""
    page = opened("lab/tree/myst")
    page.get_by_role("listitem", name=re.compile(rf"{CHAPTER}\.md")).dblclick()
    page.wait_for_function(IDLE)
    assert page.evaluate("() => jupyterapp.shell.currentWidget.content.widgets.length") > 40


@pytest.mark.thorough
def test_what_a_student_sees_and_cannot_lose(opened: Open) -> None:
    """The files are the chapters and one folder; no panel is nbgrader's; answers and checks stay, whoever deletes them."""
    page = opened(f"lab/tree/{CHAPTER}.ipynb")
    page.wait_for_function(IDLE)
    files = page.locator(".jp-DirListing-itemText").all_inner_texts()
    assert files[0] == "myst" and len(files) == len(NOTEBOOKS) + 1 and all(re.match(r"\d\d_\w+", name) for name in files[1:])
    panels = page.evaluate("() => ['left', 'right'].flatMap(s => [...jupyterapp.shell.widgets(s)].map(w => w.id))")
    assert panels and not [panel for panel in panels if "nbgrader" in panel or "assignment" in panel]
    count = "() => jupyterapp.shell.currentWidget.content.widgets.length"
    cells = page.evaluate(count)
    for text, lost in (("def classify(", 0), ('sl.check("4.1"', 0), ("import textwrap", 1)):
        select(page, text)
        page.evaluate("() => jupyterapp.commands.execute('notebook:delete-cell')")
        assert page.evaluate(count) == cells - lost, text
    missing = "() => [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    assert page.evaluate(missing) == []


LINKED = """from shardlab_course.outline import outline
from shardlab_course.checking.moment import Moment
from IPython.display import HTML
there = {each.id: each for one in outline().values() for each in one}
HTML(Moment((), there["4.4"], 1).html_lines()[0])"""


@pytest.mark.thorough
def test_the_next_chapter_opens(opened: Open, course: Path) -> None:
    """The link below the last pass of a chapter opens the next one's notebook beside it."""
    page = opened("lab/tree/01_meshes_and_shardings.ipynb")
    page.wait_for_function(IDLE)
    retype(page, "import shardlab as sl", LINKED)
    page.locator(".jp-OutputArea-output a", has_text="Next, in chapter 4").click()
    page.wait_for_function("jupyterapp.shell.currentWidget.context.path === '04_four_matmul_cases.ipynb'")
