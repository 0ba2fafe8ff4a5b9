"""For programs that read: the text of each page beside it, as Markdown, and `llms.txt`, which lists them (llmstxt.org).

Without solutions, and without forms, which hold the right answers.
"""

from __future__ import annotations

import pathlib
import re

from sphinx.application import Sphinx

SOLUTIONS = "solutions/"
FORMS = re.compile(r"^```\{raw\} html\n.*?^```\n", re.MULTILINE | re.DOTALL)
HEAD = """# Shardlab

> A course on parallel JAX programs, graded by what the compiler did, and the lens, an instrument that says what a compiled
> program communicates, what it costs and why. Each page below is its own text in Markdown; solutions are not among them.

"""


def plain(source: str) -> str:
    """A page's text without front matter, forms and drawings."""
    body = source.partition("\n---\n")[2] if source.startswith("---\n") else source
    return FORMS.sub("", body).lstrip()


def listed(titles: dict[str, str]) -> str:
    """`llms.txt`: the pages by title."""
    lines = "".join(f"- [{title}]({name}.md)\n" for name, title in titles.items())
    return f"{HEAD}## Pages\n\n{lines}"


def write(app: Sphinx, error: Exception | None) -> None:
    """Write both."""
    if error or app.builder.name != "html":
        return
    titles = {name: node.astext() for name, node in sorted(app.env.titles.items()) if not name.startswith(SOLUTIONS)}
    folder = pathlib.Path(app.outdir)
    for name in titles:
        (folder / f"{name}.md").write_text(plain(pathlib.Path(app.env.doc2path(name)).read_text(encoding="utf-8")))
    (folder / "llms.txt").write_text(listed(titles))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
