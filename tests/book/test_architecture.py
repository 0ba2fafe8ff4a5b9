"""The architecture page: its drawing is of the code as it is, and the code is built in layers."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

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
