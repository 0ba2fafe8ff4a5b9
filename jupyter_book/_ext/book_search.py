"""What can be searched: each section, word of the glossary and documented name, without hints and solutions.

Written into one script, `search_sections.js`, for a page that is opened from a file can load no data but scripts.
`_static/search.js` makes MiniSearch's index of it.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

SECTIONS = "_static/search_sections.js"
LEFT_OUT = ("solutions/",)
CLOSED = (nodes.raw, nodes.math, nodes.math_block, nodes.comment, nodes.topic)
"""What is not read, besides what is folded: forms and drawings, formulas, contents."""
FACTS = re.compile(r"(?:optional · )?★[★☆]* · ")
"""How the line of an exercise's difficulty and minutes begins."""
LONGEST = 6000
"""Characters of a section; only listings are longer."""
Entry = tuple[str, str, str, str]
"""Page, anchor, title and text."""


def entries(env: BuildEnvironment) -> Iterator[Entry]:
    """All that can be found, in the order of the contents."""
    for page in _in_order(env):
        if not page.startswith(LEFT_OUT):
            document = env.get_doctree(page)
            for section in document.findall(nodes.section):
                title = section.next_node(nodes.title)
                yield page, section["ids"][0], title.astext() if title else "", _text(section)
            for term in document.findall(nodes.term):
                if term["ids"]:
                    yield page, term["ids"][0], term.astext(), _text(term.parent, skip=term)
            for sign in document.findall(addnodes.desc_signature):
                if sign["ids"]:
                    yield page, sign["ids"][0], sign["ids"][0], _text(sign.parent, skip=sign)


def _in_order(env: BuildEnvironment) -> list[str]:
    """Pages as the contents list them; what is in no contents comes last."""
    found: list[str] = []
    waiting = [env.config.root_doc]
    while waiting:
        name = waiting.pop(0)
        if name not in found and name in env.all_docs:
            found.append(name)
            waiting = [*env.toctree_includes.get(name, []), *waiting]
    return found


def _text(of: nodes.Element, skip: nodes.Element | None = None) -> str:
    """The text of an element, without sections inside of it and without what is closed."""
    return re.sub(r"\s+", " ", " ".join(_pieces(of, skip))).strip()[:LONGEST]


def _pieces(of: nodes.Node, skip: nodes.Element | None) -> Iterator[str]:
    for child in of.children:
        if child is skip or isinstance(child, (nodes.section, nodes.title, *CLOSED)) or _folded(child):
            continue
        if isinstance(child, nodes.TextElement) and not child.next_node(nodes.math) and not isinstance(child, nodes.Inline):
            yield child.astext()
        elif isinstance(child, nodes.Text):
            yield child.astext()
        else:
            yield from _pieces(child, skip)


def _folded(node: nodes.Node) -> bool:
    """Whether it is a hint, which opens, or the line of facts of an exercise."""
    if isinstance(node, nodes.container):
        return node.get("design_component") == "dropdown"
    return isinstance(node, nodes.paragraph) and bool(FACTS.match(node.astext()))


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the script."""
    if error or app.builder.name != "html":
        return
    titles = {name: node.astext() for name, node in app.env.titles.items()}
    rows = [
        {"id": n, "page": page, "at": anchor, "title": title, "of": titles[page], "text": text}
        for n, (page, anchor, title, text) in enumerate(entries(app.env))
    ]
    said = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    (pathlib.Path(app.outdir) / SECTIONS).write_text(f"globalThis.SECTIONS={said};\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
