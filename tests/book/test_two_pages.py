"""A chapter and its solutions, rendered without the rest of the book and opened in Chromium."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser

from .test_browser import WIDTHS, axe, opened

ROOT = Path(__file__).parents[2]
CHAPTER = "notebooks/04_four_matmul_cases"
SOLUTIONS = "solutions/04_four_matmul_cases"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the rendered pages; what the tests have run is not run again."""
    sys.path.insert(0, str(ROOT / "jupyter_book"))
    import render

    folder = tmp_path_factory.mktemp("two")
    render.reuse(folder / render.CACHE)
    render.collect(folder / "pages", cache=folder / render.CACHE)
    contents = {"format": "jb-book", "root": CHAPTER, "chapters": [{"file": SOLUTIONS}]}
    (folder / "pages" / "_toc.yml").write_text(yaml.safe_dump(contents))
    command = [sys.executable, "-c", render.JUPYTER_BOOK, "build", ".", "--path-output", str(folder)]
    done = subprocess.run(command, cwd=folder / "pages", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "_build" / "html"


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("name", [CHAPTER, SOLUTIONS])
def test_a_page_is_quiet_narrow_and_accessible(browser: Browser, pages: Path, name: str) -> None:
    """Nothing fails or is asked of another host, nothing is wider than a window, and axe-core finds nothing."""
    page = opened(browser, (pages / f"{name}.html").as_uri())
    assert page.noise == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe(page) == []


def test_a_reader_predicts_and_opens_a_hint(browser: Browser, pages: Path) -> None:
    """A prediction that is wrong says its cause; hints are folded, and open."""
    page = opened(browser, (pages / f"{CHAPTER}.html").as_uri())
    form = page.locator("#predict-4-4")
    for box, turns in enumerate((1, 2)):
        for _ in range(turns):
            form.locator("select").nth(box).press("ArrowDown")
    form.get_by_role("button").click()
    causes = [line.get_attribute("data-cause") for line in form.locator(".predict-wrong").all()]
    assert causes == ["case-2-always-gathers", "always-reduces"]
    hint = page.locator("details.hint").first
    assert page.locator("details.hint[open]").count() == 0
    hint.locator("summary").click()
    assert hint.locator(".sd-card-body").is_visible()
