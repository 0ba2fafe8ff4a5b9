"""A chapter's slides: one file in which no slide is cut off, on the screen or on paper, and answers come after polls."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser

from .conftest import ROOT, resized

pytest.importorskip("pypdf", reason="the book's packages are not installed (extra: book)")
from pypdf import PdfReader  # noqa: E402

sys.path.insert(0, str(ROOT / "jupyter_book"))

import slides  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]
CUT = """() => [...document.querySelectorAll(".slide")].flatMap((slide, number) => {
  const room = slide.getBoundingClientRect();
  return [...slide.querySelectorAll("*")].filter(part => {
    const box = part.getBoundingClientRect();
    const outside = box.width && (box.left < room.left - 1 || box.top < room.top - 1
      || box.right > room.right + 1 || box.bottom > room.bottom + 1);
    return outside || (getComputedStyle(part).overflowX !== "visible" && part.scrollWidth > part.clientWidth + 1);
  }).map(part => `${number + 1}: ${part.outerHTML.slice(0, 80)}`);
})"""
TOP = "[...document.querySelectorAll('.slide')].findIndex(slide => Math.abs(slide.getBoundingClientRect().top) < 2)"


@pytest.mark.parametrize("chapter", [4, *(pytest.param(n, marks=pytest.mark.thorough) for n in (0, 2, 9))])
def test_slides_are_seen_whole(chapter: int, tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened from a file they ask for nothing else and follow the keys; nothing is cut off in two windows and in print."""
    monkeypatch.chdir(ROOT)
    file = tmp_path / "slides.html"
    assert slides.main([str(chapter), str(file)]) == 0
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(file.as_uri())
    count = page.locator(".slide").count()
    assert page.evaluate(CUT) == []
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"{TOP} === 1")
    resized(page, 800, 600)
    assert page.evaluate(CUT) == [] and page.evaluate("document.documentElement.scrollWidth") == 800
    # Last, since chromium lays a page out anew for paper, and for a moment after that it has its former width.
    assert len(PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages) == count
    page.close()
    assert asked == [file.as_uri()] and faults == []


def test_an_answer_comes_after_its_poll() -> None:
    """A poll tells nothing; the next slide marks what the key says, or writes it where there are many choices."""
    cell = nbformat.v4.new_code_cell('sl.predict("4.4", deep="all-reduce", wide="all-gather")')
    told = "## Exercise 4.4: Two\n\n★★★ · 45 minutes\n\n**First, predict.** Which, of `deep` and `wide`?"
    text = nbformat.v4.new_markdown_cell(told)
    poll, answer, *_ = made = list(slides.slides(nbformat.v4.new_notebook(cells=[text, cell])))
    assert [one.kind for one in made] == ["poll", "answer"] * 2
    assert "<p>Which, of <code>deep</code> and <code>wide</code>?</p>" in poll.body and "right" not in poll.body
    assert re.findall(r'<li class="right">(.*?)</li>', answer.body) == ["✓ all-reduce"]
    assert answer.body.count('<li class="other">') == poll.body.count("<li") - 1
    cell.source, text.source = 'sl.predict("4.5", kinds=["all-reduce"], why="b")', "Which?"
    poll, answer, *_, why, because = slides.slides(nbformat.v4.new_notebook(cells=[text, cell]))
    assert "<li>Write it down.</li>" in poll.body and '<li class="right">✓ all-reduce</li>' in answer.body
    assert "What decides that?" in why.body and '<li class="right">✓ The product' in because.body
