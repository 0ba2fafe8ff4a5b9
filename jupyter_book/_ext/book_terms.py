"""Links the first mention of each glossary term on a page to the glossary, with its definition to be read in passing."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

GLOSSARY = "glossary"
COMMON = {"finding", "group", "host", "price", "question", "reference", "slice"}
"""Terms that are everyday words too, and mostly meant so."""
PLAIN = ("intro", "notebooks/", "solutions/", "exercises", "practices", "old_to_new", "from_pytorch", "errors")
"""Pages whose prose is linked: what students read."""
CLOSED = (nodes.reference, nodes.title, nodes.literal, nodes.literal_block, nodes.raw, nodes.comment, nodes.table)


class Terms(SphinxPostTransform):
    """Replaces words by links, once for each term on a page."""

    default_priority = 11

    def run(self, **_: Any) -> None:
        """Link the terms of this page."""
        if not self.env.docname.startswith(PLAIN) or GLOSSARY not in self.env.all_docs:
            return
        known = definitions(self.env)
        for text in list(self.document.findall(nodes.Text)):
            if known and not _closed(text):
                self._link(text, known)

    def _link(self, text: nodes.Text, known: dict[str, tuple[str, str]]) -> None:
        parts, rest = [], str(text)
        while known and (match := _pattern(known).search(rest)):
            anchor, said = known.pop(_term(match[0], known))
            address = self.app.builder.get_relative_uri(self.env.docname, GLOSSARY) + "#" + anchor
            link = nodes.reference("", match[0], refuri=address, internal=True, classes=["term"], reftitle=said)
            parts += [nodes.Text(rest[: match.start()]), link]
            rest = rest[match.end() :]
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(rest)])


def definitions(env: Any) -> dict[str, tuple[str, str]]:
    """For each term in lower case, its anchor in the glossary and the first sentence of its definition."""
    found = {}
    for item in env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        term = next(iter(item.findall(nodes.term)))
        if term.astext() in COMMON:
            continue
        said = next(iter(item.findall(nodes.definition))).astext().replace("\n", " ")
        found[term.astext().lower()] = (term["ids"][0], re.split(r"(?<=\.)\s", said)[0])
    return found


def _closed(text: nodes.Text) -> bool:
    node = text.parent
    while node is not None and not isinstance(node, nodes.document):
        if isinstance(node, CLOSED):
            return True
        node = node.parent
    return False


def _pattern(known: dict[str, Any]) -> re.Pattern[str]:
    words = "|".join(re.escape(term) for term in sorted(known, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])({words})(?:e?s)?(?![\w-])", re.IGNORECASE)


def _term(word: str, known: dict[str, Any]) -> str:
    word = word.lower()
    return next(term for term in (word, word.removesuffix("s"), word.removesuffix("es")) if term in known)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry."""
    app.add_post_transform(Terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
