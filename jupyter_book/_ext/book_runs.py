"""`{chapter-runs}`: a table of the chapters that ran for this build, when, for how long, and on what.

And what a page's kernel is to know before it starts: where compiled programs are kept, and whether those of this page are.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import pathlib
import platform
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from shardlab_authoring import executed

COLUMNS = ("page", "ran at (UTC)", "seconds", "ended")


class Runs(nodes.General, nodes.Element):
    """Holds the place of the table until every chapter has run."""


class RunsDirective(SphinxDirective):
    """The directive."""

    def run(self) -> list[nodes.Node]:
        """Keep the place."""
        return [Runs()]


class RunsTransform(SphinxPostTransform):
    """Puts the table in its place; links in it are resolved afterwards."""

    default_priority = 8

    def run(self, **_: Any) -> None:
        """Replace every place that is kept."""
        for node in list(self.document.findall(Runs)):
            rows = [_row(self, name, ran) for name, ran in _records(self.env)]
            node.replace_self([nodes.paragraph(text=f"All pages ran on {versions()}."), _table(rows)])


def versions() -> str:
    """What the chapters ran on; the outputs that are kept between builds are dropped when any of it changes."""
    found = {name: importlib.metadata.version(name) for name in ("jax", "numpy")}
    machine = f"{platform.system()} {platform.machine()}"
    return f"Python {platform.python_version()}, JAX {found['jax']}, NumPy {found['numpy']}, {machine}"


def _records(env: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, kept in sorted(NbMetadataCollector.get_doc_data(env).items()):
        if ran := kept.get("exec_data"):
            yield name, ran


def _row(transform: SphinxPostTransform, name: str, ran: dict[str, Any]) -> list[nodes.Node]:
    builder = transform.app.builder
    address = builder.get_relative_uri(transform.env.docname, name)
    link = nodes.reference("", transform.env.titles[name].astext(), refuri=address, internal=True)
    at = datetime.datetime.fromtimestamp(ran["mtime"], datetime.UTC)
    seconds = "" if ran["runtime"] is None else f"{ran['runtime']:.0f}"
    ended = "to its bottom" if ran["succeeded"] else "in an exception"
    return [link, *map(nodes.Text, (f"{at:%Y-%m-%d %H:%M}", seconds, ended))]


def _table(rows: list[list[nodes.Node]]) -> nodes.Node:
    if not rows:
        return nodes.paragraph(text="No chapter ran for this build.")
    group = nodes.tgroup(cols=len(COLUMNS))
    group += [nodes.colspec(colwidth=1) for _ in COLUMNS]
    group += nodes.thead("", _line([nodes.Text(name) for name in COLUMNS]))
    group += nodes.tbody("", *map(_line, rows))
    return nodes.table("", group, classes=["colwidths-auto"])


def _line(cells: list[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def _before(_app: Sphinx, page: str, _source: list[str]) -> None:
    if folder := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        os.environ.update(executed.compiled(pathlib.Path(folder), pathlib.PurePosixPath(page).name))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry."""
    app.connect("source-read", _before)
    app.add_config_value("shardlab_solutions", True, "env")
    app.add_node(Runs)
    app.add_directive("chapter-runs", RunsDirective)
    app.add_post_transform(RunsTransform)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
