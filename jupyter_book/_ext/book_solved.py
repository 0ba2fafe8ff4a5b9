"""Shows in open chapters what a solved run shows, and nowhere that something is not written yet.

A cell of a chapter that only says that an answer is open gets the output that the same cell has in the chapter's solutions,
unless that names a collective that the open page does not: there the lines about what is open go, and nothing comes. Of a
check only the sentences that name one are left out.

What a check says to do next goes: on a page of the book that stands below, and a link to a notebook leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

CHAPTERS, SOLUTIONS = "notebooks/", "solutions/"
OPEN = re.compile(r"^.*(?:Not attempted yet|still open|not written yet|yours: not yet|\bEllipsis\b).*\n?", re.MULTILINE)
TELLING = re.compile(r"all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute")
SAID = "In a solved notebook:"
NEXT_LINE = r"Next(?: in this chapter|, in chapter \d+)"
NEXT = re.compile(rf"<p [^>]*>(?:<a [^>]*>)?{NEXT_LINE}(?:(?!</p>).)*</p>|^ *{NEXT_LINE}.*\n?", re.MULTILINE)

SENTENCES = re.compile(r"<p [^>]*>(?:(?!</p>).)*</p>|^  .*\n?", re.MULTILINE)
"""A verdict's, as HTML and as text."""


class Solved(SphinxPostTransform):
    """Goes through a chapter's cells, before it is chosen in which of its forms an output is shown."""

    default_priority = 2

    def run(self, **_: Any) -> None:
        """Replace the outputs of this page that say only that an answer is open."""
        name = self.env.docname
        for _, output in _cells(self.document):
            _drop_next(output)
        solution = name.replace(CHAPTERS, SOLUTIONS, 1)
        if not name.startswith(CHAPTERS):
            return
        solved = _cells(self.env.get_doctree(solution)) if solution in self.env.all_docs else []
        for source, output in _cells(self.document):
            if OPEN.search(output.astext()):
                _replace(output, next((other for text, other in solved if text == source), None))


def _cells(document: nodes.document) -> list[tuple[str, nodes.container]]:
    """Source and output of each cell that has both."""
    found = []
    for cell in document.findall(nodes.container):
        if cell.get("nb_element") == "cell_code":
            parts = {part.get("nb_element"): part for part in cell.children if isinstance(part, nodes.container)}
            if len(parts) == 2:
                found.append((parts["cell_code_source"].astext(), parts["cell_code_output"]))
    return found


def _drop_next(output: nodes.container) -> None:
    _write(output, lambda text: NEXT.sub("", text))


def _write(output: nodes.container, written: Callable[[str], str]) -> None:
    for block in output.findall(lambda node: isinstance(node, (nodes.raw, nodes.literal_block))):
        if (left := written(before := block.astext())) != before:
            block.clear()
            block.rawsource = left
            block += nodes.Text(left)


def _untelling(text: str, known: set[str]) -> str:
    """Without a verdict's sentences that name a collective which is not known."""
    if not text.startswith(("✓ ", "<div role='status'")):
        return text
    return SENTENCES.sub(lambda found: found[0] if known.issuperset(TELLING.findall(found[0])) else "", text)


def _replace(output: nodes.container, solved: nodes.container | None) -> None:
    known = set(TELLING.findall(output.astext()))
    if solved is not None:
        solved = solved.deepcopy()
        _drop_next(solved)
        _write(solved, lambda text: _untelling(text, known))
    if solved is not None and not OPEN.search(solved.astext()) and known.issuperset(TELLING.findall(solved.astext())):
        output.children = []
        output += [nodes.paragraph("", SAID, classes=["solved"]), *solved.children]
        return
    blocks = [block for block in output.children if isinstance(block, nodes.literal_block)]
    for block in blocks:
        left = OPEN.sub("", block.astext())
        block.clear()
        if left.count("\n") > 1:  # not the head of a table alone
            block += nodes.Text(left)
    kept = [block for block in blocks if block.children]
    if kept:
        output.children = kept
    else:
        output.parent.remove(output)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry."""
    app.add_post_transform(Solved)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
