"""What a student wrote, on pages that others open: nothing in it runs, and nothing is asked for from elsewhere."""

from __future__ import annotations

import functools
import html
import pathlib
import re
from collections.abc import Mapping
from typing import Any

import jinja2
import nbformat
from jinja2.bccache import Bucket
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbformat import NotebookNode

from shardlab_course.editions import edition
from shardlab_grader.nbgrader import rendering
from shardlab_grader.nbgrader.rendering import Unrendered

TEMPLATES = pathlib.Path(__file__).with_name("templates")
STYLE = f"<style>{TEMPLATES.joinpath('feedback', 'feedback.css').read_text()}</style>"
GIVEN = "shardlab_given"
"""In the metadata of an autograded notebook's cells: as it was released, and no exercise's answer."""
FIRST = "shardlab_first"
"""In the metadata of a cell of ours that stands above everything."""
LEFT_OUT = "*Exercises, and cells of your own. The rest of the chapter is as it was given.*"
HEADING = re.compile(r"^## Exercise (?P<id>\d+\.\d+): (?P<title>.+)", re.MULTILINE)
PAGES = 500
"""How many rendered cells are kept: most cells of a class are the chapter's own."""


class Templates(jinja2.BytecodeCache):
    """Templates compiled once in a process; nbconvert compiles them again for each page."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, Any]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._kept.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.checksum, bucket.code


COMPILED = Templates()


class Page(HTMLExporter):
    """A feedback page: the exercises and the student's own cells, with few styles, so that a class is mailed in one go.

    nbconvert's own exporter parses what it has made to look for pictures without a text and for the cells of JupyterLab's
    theme, which takes longer than to make it; these pages have neither.
    """

    def _create_environment(self) -> jinja2.Environment:
        environment: jinja2.Environment = super()._create_environment()  # type: ignore[no-untyped-call]
        environment.bytecode_cache = COMPILED
        return environment

    def _init_resources(self, resources: dict[str, Any] | None) -> dict[str, Any]:
        found: dict[str, Any] = super()._init_resources(resources)  # type: ignore[no-untyped-call]
        found["include_css"] = lambda name: STYLE  # in place of all of Bootstrap, of which nbgrader's template uses a panel
        return found

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **rest: Any
    ) -> tuple[str, dict[str, Any]]:
        rendering.RENDERER.begin()
        given = self._init_resources(resources)
        nb = exercises(nb)
        kinds = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=given)
        self.register_filter("filter_data_type", kinds)  # type: ignore[no-untyped-call]
        text, told = TemplateExporter.from_notebook_node(self, nb, given, **rest)
        return titled(str(text), nb) + of_verdict(nb.metadata.get("shardlab", {}).get("verdict", "")), told


def of_verdict(key: str) -> str:
    """Ends a page: which verdict it tells, by which the page of an earlier one is known."""
    return f"<!-- verdict {key[:16]} -->\n" if re.fullmatch(r"[0-9a-f]{16,}", key) else ""


def exercises(notebook: NotebookNode) -> NotebookNode:
    """The notebook without given text and code that no exercise has between its heading and its grade cell."""
    kept, inside = [], False
    for cell in notebook.cells:
        if found := _heading(cell):
            cell, inside = nbformat.v4.new_markdown_cell(cell.source[found.start() :], metadata=cell.metadata), True
        if inside or not cell.metadata.get(GIVEN):
            kept.append(cell)
        inside = inside and not cell.metadata.get("nbgrader", {}).get("grade")
    if len(kept) < len(notebook.cells):
        kept.insert(sum(FIRST in cell.metadata for cell in kept[:1]), nbformat.v4.new_markdown_cell(LEFT_OUT))
    return nbformat.v4.new_notebook(metadata=notebook.metadata, cells=kept)


def titled(page: str, notebook: NotebookNode) -> str:
    """A feedback page that names exercises where nbgrader's template has "Test cell" and the cell's id alone."""
    for found in filter(None, map(_heading, notebook.cells)):
        name, said = f"q{found['id'].replace('.', '-')}", html.escape(f"{found['id']} {found['title']}")
        page = page.replace(f'<a href="#{name}">Test cell</a>', f'<a href="#{name}">{said}</a>')
        page = page.replace(f"Grade cell: <code>{name}</code>", f"{said} <code>{name}</code>")
    return page


def _heading(cell: NotebookNode) -> re.Match[str] | None:
    """An exercise's, with which its text begins; prose of the chapter may stand before it in the cell."""
    ours = cell.cell_type == "markdown" and not cell.source.startswith("```")  # what a student writes begins with a fence
    return HEADING.search(cell.source) if ours else None


def highlighted(source: str, language: str | None = None, metadata: Mapping[str, Any] | None = None) -> str:
    """Python code in colours; in place of nbconvert's filter `highlight_code`."""
    return _shown("highlighted", source, str((metadata or {}).get("magics_language") or language or "ipython3"))


def markdown(source: str) -> str:
    """Markdown as HTML of known elements; in place of nbconvert's filter `markdown2html`."""
    return _shown("markdown", source, "")


def _shown(name: str, source: str, language: str) -> str:
    try:
        return _rendered(name, source, language)
    except Unrendered as why:
        return rendering.unrendered(source, str(why))


@functools.lru_cache(PAGES)
def _rendered(name: str, source: str, language: str) -> str:
    return rendering.RENDERER.render(name, source, language)


def inert(notebook: NotebookNode, released: NotebookNode) -> NotebookNode:
    """The notebook with the student's prose as plain text, and what was given marked.

    nbgrader's own pages render Markdown as it stands, scripts and all, in the session of whoever grades.
    """
    ours = {_told(cell): cell.source for cell in released.cells}
    cells = []
    for cell in notebook.cells:
        given = _told(cell) in ours
        cell.source = ours.get(_told(cell), cell.source)
        shown = cell if given or cell.cell_type == "code" else _plain(cell)
        if given and "nbgrader" not in cell.metadata:
            shown.metadata[GIVEN] = True
        cells.append(shown)
    return nbformat.v4.new_notebook(metadata=notebook.metadata, cells=cells)


def _told(cell: NotebookNode) -> tuple[str, str]:
    """What a cell is and says, whether or not its exercise counts: that may have changed since the notebook was given."""
    markdown = cell.cell_type == "markdown"
    return cell.cell_type, edition.HEAD.sub(r"\g<head>", cell.source) if markdown else cell.source


def _plain(cell: NotebookNode) -> NotebookNode:
    runs = [len(run) for run in re.findall("`+", cell.source)]
    fence = "`" * max(3, 1 + max(runs, default=0))
    return nbformat.v4.new_markdown_cell(f"{fence}text\n{cell.source}\n{fence}", id=cell.id, metadata=cell.metadata)
