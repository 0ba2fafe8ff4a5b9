"""Leads from each message of Shardlab that a page prints to its entry on the page of errors, and from there back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

ERRORS = "errors"
MESSAGE = re.compile(r"\[([a-z]+(?:-[a-z]+)+)\]")


class Messages(SphinxPostTransform):
    """On the page of errors the pages that print each, elsewhere a line below the output."""

    default_priority = 9

    def run(self, **_: Any) -> None:
        """Write the links of this page."""
        name, link = self.env.docname, self.app.builder.get_relative_uri
        if name == ERRORS:
            for entry in self.document.findall(nodes.section):
                pages = [page for page, ids in sorted(_printed(self.env).items()) if entry["ids"][0] in ids]
                links = [_link(self.env.titles[page].astext(), link(name, page)) for page in pages]
                if links:
                    entry += _line("Printed in: ", links)
        elif ERRORS in self.env.all_docs:
            known = {id for entry in self.env.get_doctree(ERRORS).findall(nodes.section) for id in entry["ids"]}
            for output in list(_outputs(self.document)):
                ids = [id for id in dict.fromkeys(MESSAGE.findall(output.astext())) if id in known]
                if ids:
                    output += _line("More on this message: ", [_link(id, f"{link(name, ERRORS)}#{id}") for id in ids])


def _outputs(document: nodes.document) -> Iterator[nodes.container]:
    return (box for box in document.findall(nodes.container) if box.get("nb_element") == "cell_code_output")


def _link(text: str, address: str) -> nodes.reference:
    return nodes.reference("", text, refuri=address, internal=True)


def _line(said: str, links: list[nodes.reference]) -> nodes.paragraph:
    parts: list[nodes.Node] = [nodes.Text(said)]
    for link in links:
        parts += [link, nodes.Text(", ")]
    return nodes.paragraph("", "", *parts[:-1], classes=["messages"])


def _printed(env: BuildEnvironment) -> dict[str, set[str]]:
    """The names in brackets that each page's outputs hold."""
    if not hasattr(env, "shardlab_printed"):
        env.shardlab_printed = {}  # type: ignore[attr-defined]
    return env.shardlab_printed  # type: ignore[no-any-return,attr-defined]


def noted(app: Sphinx, document: nodes.document) -> None:
    """Keep what a page prints."""
    text = "\n".join(output.astext() for output in _outputs(document))
    _printed(app.env)[app.env.docname] = set(MESSAGE.findall(text))


def forgotten(app: Sphinx, env: BuildEnvironment, name: str) -> None:
    """What a page printed, when it is read again or gone."""
    _printed(env).pop(name, None)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry; reading in parallel would need the pages' notes merged."""
    app.connect("doctree-read", noted)
    app.connect("env-purge-doc", forgotten)
    app.add_post_transform(Messages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
