"""What `sl.example` shows: a small program, run on the spot, about the idea behind a cause that was named more than once."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import html
import io
import pathlib
import textwrap
from typing import Any

from shardlab_course.checking import progress_file

FOLDER = pathlib.Path(__file__).parents[1] / "examples"
"""A file an idea: the misconceptions that it is about, the section that has it, a few sentences, and a program."""
PRELUDE = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
"""
"""What every program begins with; a notebook of the course has these names."""
AGAIN = 2
"""Failed checks with one cause after which a report points to its example."""
KEPT = 50
"""Causes that the progress file keeps of an exercise."""
WIDTH = 88


@dataclasses.dataclass(frozen=True)
class Idea:
    """What a file of `FOLDER` holds; `section` is a chapter's number and one of its headings."""

    name: str
    causes: tuple[str, ...]
    section: str
    says: str
    program: str

    @property
    def where(self) -> str:
        """The section in words."""
        chapter, _, heading = self.section.partition(" ")
        return f"chapter {chapter}, \u201c{heading}\u201d"


@dataclasses.dataclass(frozen=True)
class Example:
    """An idea with what its program printed; the last expression of a cell shows it."""

    idea: Idea
    printed: str

    def __repr__(self) -> str:
        said = textwrap.wrap(self.idea.says, WIDTH)
        code, printed = (textwrap.indent(text.rstrip(), "    ") for text in (self.idea.program, self.printed))
        return "\n".join([*said, "", code, "", "It prints:", "", printed, "", f"More: {self.idea.where}."])

    def _repr_html_(self) -> str:
        said, where = html.escape(self.idea.says), html.escape(self.idea.where)
        code, printed = (
            f"<pre style='white-space:pre;overflow-x:auto'>{html.escape(text.rstrip())}</pre>"
            for text in (self.idea.program, self.printed)
        )
        return f"<p style='max-width:46em'>{said}</p>{code}<p>It prints:</p>{printed}<p>More: {where}.</p>"


def run(idea: Idea) -> str:
    """What its program prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        program = compile(PRELUDE + idea.program, f"<sl.example: {idea.name}>", "exec", dont_inherit=True)
        exec(program, {"__name__": "example"})
    return printed.getvalue()


def about(cause: str) -> Idea | None:
    """The idea behind a misconception, if there is one for it."""
    return _by_cause().get(cause)


def causes(verdict: Any) -> list[str]:
    """The misconceptions that a verdict names, each once, in order."""
    return [*dict.fromkeys(finding.misconception for finding in verdict.findings if finding.misconception)]


def noted(question: str, found: list[str]) -> list[str]:
    """The causes of a failed check behind those of earlier ones, as the progress file keeps them."""
    return [*before(question), *found][-KEPT:]


def pointer(question: str, found: list[str]) -> str:
    """The line for a report whose cause was named before, if there is an example for it; else empty."""
    earlier = before(question)
    again = next((idea for cause in found if earlier.count(cause) >= AGAIN and (idea := about(cause))), None)
    if again is None:
        return ""
    return f'The same cause as before. It is explained in {again.where}; in a smaller program: `sl.example("{question}")`'


def before(question: str) -> list[str]:
    """Causes that checks of a question have named so far, the last one last."""
    kept: list[str] = progress_file.of(question).get("causes", [])
    return kept


@functools.cache
def ideas() -> tuple[Idea, ...]:
    """All of them."""
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.md")))


@functools.cache
def _by_cause() -> dict[str, Idea]:
    return {cause: idea for idea in ideas() for cause in idea.causes}


def _read(path: pathlib.Path) -> Idea:
    head, _, rest = path.read_text(encoding="utf-8").partition("\n\n")
    causes, section = (line.partition(": ")[2] for line in head.splitlines())
    says, _, code = rest.partition("\n\n```python\n")
    return Idea(path.stem, tuple(causes.split(", ")), section, " ".join(says.split()), code.removesuffix("```\n"))
