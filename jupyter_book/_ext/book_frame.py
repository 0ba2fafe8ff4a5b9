"""Mends and completes the theme's frame of every page, and writes what stands beside the pages: a first page and a sitemap.

The theme has its buttons for contents twice. It listens to those that come first, and these are in a header that the book
does not show; so they go. Its tooltips stay where a finger was; the browser's own titles do not.
"""

from __future__ import annotations

import datetime
import html
import pathlib
import re
from urllib.parse import urljoin

from sphinx.application import Sphinx

HIDDEN = re.compile(r"<button class=\"pst-navbar-icon sidebar-toggle (?:primary|secondary)-toggle\".*?</button>", re.DOTALL)
TOOLTIP = re.compile(r" *data-bs-(?:placement=\"\w+\"|toggle=\"tooltip\")")
NAMES = (
    ('title="Toggle primary sidebar"', 'title="Chapters" aria-label="Chapters"'),
    ('title="Toggle secondary sidebar"', 'title="On this page" aria-label="On this page"'),
    ('data-bs-title="Color mode"', 'title="Light or dark"'),
)
MADE = re.compile(r"(?<=<time class=\"made\">)[^<]*")
NAMED = "Shardlab: see what a parallel JAX program sends"
"""The title of the first page, whose heading is the book's own."""
FIRST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
{said}<meta http-equiv="refresh" content="0; url=intro.html"><link rel="canonical" href="{canonical}"></head>
<body><p><a href="intro.html">{title}</a></p></body></html>
"""
SAID = re.compile(r"<meta (?:name=\"(?:description|twitter:\w+)\"|property=\"og:\w+(?::\w+)?\")[^>]*>")
TITLE = re.compile(r"(?<=<title>)[^<]*(?=</title>)")


def framed(text: str, today: str) -> str:
    """A page whose menus open, without tooltips that stay, with the day on which the book was made."""
    text = TOOLTIP.sub("", HIDDEN.sub("", text))
    for old, new in NAMES:
        text = text.replace(old, new)
    return MADE.sub(today, text)


def first(intro: str, title: str, canonical: str) -> str:
    """The page that leads to the first one: with its title, and with its preview for who gets a link."""
    said = "".join(f"{tag}\n" for tag in SAID.findall(intro))
    return FIRST.format(title=html.escape(title), said=said, canonical=canonical)


def sitemap(base: str, names: list[str]) -> str:
    """The addresses of all pages, as search engines read them (sitemaps.org, 0.9)."""
    places = "".join(f"<url><loc>{html.escape(urljoin(base, name))}</loc></url>\n" for name in names)
    head = '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{places}</urlset>\n"


def complete(app: Sphinx, error: Exception | None) -> None:
    """Go through all pages, those of earlier builds too."""
    if error or app.builder.name != "html":
        return
    folder, base = pathlib.Path(app.outdir), app.config.html_baseurl
    today = f"{datetime.datetime.now(datetime.UTC):%-d %B %Y}"
    pages = sorted(path for path in folder.rglob("*.html") if not {"_static", "_downloads"} & set(path.parts))
    for path in pages:
        before = path.read_text(encoding="utf-8")
        after = framed(before, today)
        if path.name == "intro.html":
            after = TITLE.sub(html.escape(NAMED), after)
            (folder / "index.html").write_text(first(after, NAMED, urljoin(base, "intro.html")))
        if after != before:
            path.write_text(after, encoding="utf-8")
    if base:
        names = [path.relative_to(folder).as_posix() for path in pages]
        found = [name for name in names if name not in ("index.html", "genindex.html", "search.html")]
        (folder / "sitemap.xml").write_text(sitemap(base, found))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry."""
    app.connect("build-finished", complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
