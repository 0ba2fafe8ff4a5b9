"""Facts in a chapter's prose that no placeholder holds: texts in code spans, and numbers.

A code span with a number in it quotes what is on the page: an output, or code. So the section in which it stands has to show
it, in a cell, in what a cell printed, or in a listing. A number in plain prose has to stand somewhere on the page, as a
number of a cell, of an output or of a formula. Whatever the cells of a page cannot show is in `solutions/quoted.toml`, with
the reason why it is so. A placeholder is always what the page says.

Not looked at: code that a reader may write, which calls or computes something; paragraphs that link to their source; and the
lines that say how long a chapter and an exercise take.
"""

from __future__ import annotations

import ast
import pathlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence

from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_course.editions import numbers

ALLOWED = "quoted.toml"
SECTION = re.compile(r"^(?=##+ )", re.MULTILINE)
LISTING = re.compile(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
MATH = re.compile(r"\$\$.+?\$\$|\$(?!\s)[^$]+\$", re.DOTALL)
LINK = re.compile(r"\[[^]]+\]\([^)]+\)|<https?://[^>]+>")
TIMES = "**Time:**", "★"
MARKUP = re.compile(r"<[^>]+>")
DIGITS = re.compile(r"\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?")
NUMBER = re.compile(rf"(?<![\w.,/^-])(?:{DIGITS.pattern})(?!\w)")
# What is counted through the course and its packages, and is no fact of a page: chapter 3, exercises 4.4 and 9.1, JAX 0.10.
NAMED = re.compile(
    r"\b(?:chapters?|exercises?|questions?|parts?|steps?|sections?|cases?|rows?|devices?|process(?:es)?|JAX|version|Python)"
    r"\s+\d+(?:\.\d+)*(?:(?:,|\s+and|\s+to|\s+or)\s+\d+(?:\.\d+)*)*|\(\d+\.\d+(?:, \d+\.\d+)*\)",
    re.IGNORECASE,
)


def compare(chapter: pathlib.Path, written: Sequence[str], page: NotebookNode) -> None:
    """Nothing, if the page shows what its prose quotes.

    Args:
        chapter: its file in `solutions/`.
        written: the source of each cell of the page, placeholders as they are written.
        page: the same cells with their outputs.
    Raises:
        ShardlabError: a span or a number is not shown, and not allowed; or what is allowed is not written any more.
    """
    allowed = _allowed(chapter)
    found = list(dict.fromkeys(_unshown(written, page)))
    prose = "\n".join(text for text, cell in zip(written, page.cells, strict=True) if cell.cell_type == "markdown")
    faults = [f"{chapter.name}: {text}   is not on the page" for text in found if text not in allowed]
    # One that the page shows by now may stay: the digits of a measured error are those of the processor that it ran on.
    faults += [f"{ALLOWED}: {text!r}   is not written any more" for text in allowed if text not in prose]
    if faults:
        what = "the prose quotes what its page does not show."
        mend = f"write {{{{ expression }}}}, show it in a cell of that section, or say in solutions/{ALLOWED} why it is so."
        raise ShardlabError("quoted-not-shown", what, where="\n".join(faults), mend=mend)


def _allowed(chapter: pathlib.Path) -> dict[str, str]:
    """What the chapter may quote although its page does not show it, each with the reason."""
    path = chapter.with_name(ALLOWED)
    kept: dict[str, dict[str, str]] = tomllib.loads(path.read_text()) if path.exists() else {}
    return kept.get(chapter.name[:2], {})


def _unshown(written: Sequence[str], page: NotebookNode) -> Iterator[str]:
    """Spans that their section does not show, and numbers that the page does not."""
    sections = list(_sections(written, page))
    everywhere = {_value(n) for _, shown in sections for n in DIGITS.findall(shown)}
    for prose, shown in sections:
        squashed = _squashed(shown)
        for text in (match[2] for match in SPAN.finditer(prose)):
            if "{{ " not in text and NUMBER.search(text) and not _computes(text) and _squashed(text) not in squashed:
                yield text
        for paragraph in re.split(r"\n\s*\n", SPAN.sub("·", prose)):
            if not LINK.search(paragraph) and not any(mark in paragraph for mark in TIMES):
                plain = NAMED.sub("·", MATH.sub("·", numbers.PLACEHOLDER.sub("·", paragraph)))
                yield from (n.rstrip(",") for n in NUMBER.findall(plain) if _value(n) not in everywhere)


def _sections(written: Sequence[str], page: NotebookNode) -> Iterator[tuple[str, str]]:
    """The prose of each section, from heading to heading, and what is shown there."""
    prose, shown = [""], [""]
    for source, cell in zip(written, page.cells, strict=True):
        if cell.cell_type == "markdown":
            for part in SECTION.split(COMMENT.sub("", source)):
                if part.startswith("##"):
                    yield "\n\n".join(prose), "\n".join(shown)
                    prose, shown = [], []
                prose.append(LISTING.sub("·", part))
                shown += [*(match[0] for match in LISTING.finditer(part)), *MATH.findall(part)]
        else:
            shown += [cell.source, *_outputs(cell)]
    yield "\n\n".join(prose), "\n".join(shown)


def _outputs(cell: NotebookNode) -> Iterator[str]:
    """What a cell shows, as text."""
    for output in cell.outputs:
        yield output.get("text", "")
        shown: Iterable[tuple[str, str]] = output.get("data", {}).items()
        yield from (MARKUP.sub(" ", text) for kind, text in shown if kind.startswith("text/") or kind == "image/svg+xml")


def _computes(text: str) -> bool:
    """Whether it is Python that calls or computes something: what a reader may write, and nothing that a page prints."""
    try:
        tree = ast.parse(text.strip().lstrip("."))
    except SyntaxError:
        return False
    return any(isinstance(node, ast.BinOp | ast.Call | ast.Lambda) for node in ast.walk(tree))


def _squashed(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')


def _value(number: str) -> str:
    return number.rstrip(",").replace(",", "").replace("_", "")
