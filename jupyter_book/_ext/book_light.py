"""Takes out of every rendered page what it does not use: scripts for forms, search and icons.

The theme draws its few icons by a script of a megabyte and a half; here they stand in the page, drawn from the same file.
"""

from __future__ import annotations

import functools
import pathlib
import re

from sphinx.application import Sphinx

FONTAWESOME = "_static/scripts/fontawesome.js"
SCRIPT = re.compile(r"[ \t]*<script[^>]*\bsrc=\"[^\"]*?(?P<file>[\w.-]+\.js)[^\"]*\"[^>]*></script>\n?")
ICON = re.compile(r"<(?P<tag>i|span) class=\"(?P<classes>[^\"]*\bfa-solid\b[^\"]*)\"(?P<rest>[^>]*)>\s*</(?P=tag)>")
TITLE = r" title=\"([^\"]*)\""
SIZES = {"fa-solid", "fa-lg", "fa-fw"}
WANTED = {
    "fontawesome.js": r"(?!)",
    "predict.js": r"class=\"predict\"|id=\"predicted-here\"|<strong>(?:First, p|P)redict",
    "folds.js": r"class=\"cell |id=\"exercise-",
    "playground.js": r"data-play",
    "searchtools.js": r"(?!)",  # the book's own search stands in its place
    "language_data.js": r"(?!)",
    "searchindex.js": r"(?!)",
    "minisearch.js": r"id=\"search-results\"",
    "search.js": r"id=\"search-results\"",
    "clipboard.min.js": r"class=\"highlight",
    "copybutton.js": r"class=\"highlight",
    "togglebutton.js": r"class=\"(?:[^\"]*\s)?(?:toggle|dropdown)[\s\"]",
    "design-tabs.js": r"sd-tab-set",
}
"""What a page that needs a script has in its text; other scripts stay."""


def light(text: str, drawing: str) -> str:
    """A page without the scripts that it does not use, and with its icons in it.

    Args:
        drawing: the text of Font Awesome's script, which has the outlines of all icons.
    """
    body = text.partition("<body")[2]
    needed = {name for name, pattern in WANTED.items() if re.search(pattern, body)}
    text = SCRIPT.sub(lambda m: "" if m["file"] in WANTED and m["file"] not in needed else m[0], text)
    return ICON.sub(lambda m: _svg(m["classes"], m["rest"], drawing), text)


def _svg(classes: str, rest: str, drawing: str) -> str:
    (name,) = (word.removeprefix("fa-") for word in classes.split() if word.startswith("fa-") and word not in SIZES)
    width, height, outline = _outline(name, drawing)
    title = re.search(TITLE, rest)
    said = f"<title>{title[1]}</title>" if title else ""
    return (
        f'<svg class="svg-inline--fa {classes}"{re.sub(TITLE, "", rest)} aria-hidden="true" '
        f'viewBox="0 0 {width} {height}">{said}'
        f'<path fill="currentColor" d="{outline}"/></svg>'
    )


@functools.cache
def _outline(name: str, drawing: str) -> tuple[str, str, str]:
    """Width, height and path of an icon; the solid ones come last in the script."""
    found = re.findall(rf'[{{,]"?{re.escape(name)}"?:\[(\d+),(\d+),\[[^]]*\],"\w+","([^"]+)"', drawing)
    return found[-1]


def lightened(app: Sphinx, error: Exception | None) -> None:
    """Go through all pages, those of earlier builds too."""
    folder = pathlib.Path(app.outdir)
    if error or app.builder.name != "html":
        return
    drawing = (folder / FONTAWESOME).read_text(encoding="utf-8")
    for path in folder.rglob("*.html"):
        if "_static" not in path.parts:
            before = path.read_text(encoding="utf-8")
            if (after := light(before, drawing)) != before:
                path.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry."""
    app.connect("build-finished", lightened)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
