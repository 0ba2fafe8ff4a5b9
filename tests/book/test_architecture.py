"""The architecture page: its drawing is of the code as it is, and the code is built in layers."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser

HERE = Path(__file__).parents[2] / "jupyter_book"
sys.path.insert(0, str(HERE))
import architecture  # noqa: E402


def test_imports_go_downwards() -> None:
    """No two parts import each other."""
    ours = architecture.modules()
    needs = architecture.imports(ours)
    drawn = architecture.edges(needs, architecture.grouped(ours))
    assert {pair for pair in drawn if pair[::-1] in drawn} == set()
    assert len({name for pair in drawn for name in pair}) >= 8


def test_every_package_is_drawn_and_explained() -> None:
    """The drawing is well-formed and says in words what it shows; the page's table has every part."""
    drawing = architecture.svg()
    root = ElementTree.fromstring(drawing)
    names = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text") if not text.text.endswith("lines")}
    assert "judge imports from" in root.attrib["aria-label"]
    page = (HERE / "architecture.md").read_text()
    assert names == set(architecture.grouped(architecture.modules()).values())
    assert all(f"| {name} |" in page for name in names)


UNDER = """boxes => [...document.querySelectorAll('path')].flatMap(path => {
    const long = path.getTotalLength();
    const points = [...Array(200).keys()].map(n => path.getPointAtLength(long * (n + 0.5) / 200));
    return [...document.querySelectorAll('rect')].map(rect => rect.getBBox()).filter(box => points.some(
        ({x, y}) => box.x < x && x < box.x + box.width && box.y + 1 < y && y < box.y + box.height - 1)).length;
})"""


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_lines_pass_beside_boxes(browser: Browser) -> None:
    """A line begins and ends at the edge of a box, and no point of it lies within one; all boxes are on the drawing."""
    page = browser.new_page()
    page.set_content(architecture.svg())
    under = page.evaluate(UNDER)
    inside = page.evaluate(
        "[...document.querySelectorAll('rect')].every(r => r.getBBox().x >= 0 && r.getBBox().x + r.getBBox().width <= 960)"
    )
    page.close()
    assert len(under) > 10 and set(under) == {0} and inside
