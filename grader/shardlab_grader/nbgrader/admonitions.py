"""MyST's admonitions as quotations, which any Markdown has; in one pass over the lines, since students write them too."""

from __future__ import annotations

import re

ADMONITION = re.compile(r":::\{(?P<kind>\w+)\} *(?P<title>.*)")
OPTION = re.compile(r":[\w-]+:")


def quoted(source: str) -> str:
    """The text with MyST's admonitions as quotations with a title in bold, which any Markdown has."""
    lines = source.split("\n")
    ends = [n for n, line in enumerate(lines) if line == ":::"]
    made, at, end = list[str](), 0, 0
    while at < len(lines):
        while end < len(ends) and ends[end] <= at:
            end += 1
        if end < len(ends) and (found := ADMONITION.fullmatch(lines[at])):
            made += _quoted(found, lines[at + 1 : ends[end]])
            at = ends[end] + 1
        else:
            made.append(lines[at])
            at += 1
    return "\n".join(made)


def _quoted(found: re.Match[str], body: list[str]) -> list[str]:
    """One admonition; its options are for the book."""
    start = next((n for n, line in enumerate(body) if not OPTION.match(line)), len(body))
    title = found["title"] or found["kind"].capitalize()
    return [f"> {line}".rstrip() for line in (f"**{title}**", "", *body[start:])]
