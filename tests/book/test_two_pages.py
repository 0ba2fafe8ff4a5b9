"""A chapter and its solutions, rendered without the rest of the book and opened in Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from .conftest import CHAPTER, SOLUTIONS, resized
from .test_browser import WIDTHS, axe, opened

pytestmark = pytest.mark.browser


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("name", [CHAPTER, SOLUTIONS])
def test_a_page_is_quiet_narrow_and_accessible(browser: Browser, pages: Path, name: str) -> None:
    """Nothing fails or is asked of another host, nothing is wider than a window, and axe-core finds nothing."""
    page = opened(browser, (pages / f"{name}.html").as_uri())
    assert page.noise == []
    for width in WIDTHS:
        resized(page, width, 900)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe(page) == []


def test_a_reader_predicts_and_opens_a_hint(browser: Browser, pages: Path) -> None:
    """A prediction that is wrong says its cause; hints are folded, and open."""
    page = opened(browser, (pages / f"{CHAPTER}.html").as_uri())
    form = page.locator("#predict-4-4")
    for box, at in enumerate((0, 1)):
        form.locator(".choices").nth(box).locator("label").nth(at).click()
    form.get_by_role("button").click()
    causes = [line.get_attribute("data-cause") for line in form.locator(".predict-wrong").all()]
    assert causes == ["case-2-always-gathers", "always-reduces"]
    hint = page.locator("details.hint").first
    assert page.locator("details.hint[open]").count() == 0
    hint.locator("summary").click()
    assert hint.locator(".sd-card-body").is_visible()
