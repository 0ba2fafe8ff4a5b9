"""Variants of a chapter: the same exercises with other names for the mesh axes.

Only what a student sees has other names. An answer is translated into the course's names, so that oracles,
references and causes are the same for all variants, and a right answer costs the same in each.
"""

from __future__ import annotations

import copy
import dataclasses
import io
import random
import re
import tokenize
from collections.abc import Iterator, Mapping
from typing import Any

from nbformat import NotebookNode

from shardlab.axes import HERE
from shardlab_course.renaming import Renaming
from shardlab_judge.cases import Case
from shardlab_judge.question import Question
from shardlab_judge.verdict import Finding, Verdict

AXES: Mapping[int, tuple[str, ...]] = {
    3: ("data", "model"), 4: ("x", "y"), 6: ("x", "y"), 7: ("x", "y"), 8: ("x",), 9: ("data", "model"),
    10: ("data", "model"), 11: ("data", "model"), 12: ("x",), 13: ("x", "y"), 16: ("x",), 17: ("x",),
}  # fmt: skip
"""By chapter the axes that get other names."""
WHY = {
    0: "an entry of another answer is called x",
    3: "arrays are called x in the same sentences",
    5: "stored programs are called data and model",
    14: "the axes are hosts and wires, which the text is about",
    15: "stored programs are called data and model",
}
"""By chapter why other axes keep their names."""
NAMES = (
    "aisle", "alley", "arch", "attic", "barn", "bay", "berth", "cove", "deck", "dock", "dome", "ferry",
    "gable", "grove", "hall", "loft", "mill", "moat", "pier", "pond", "quay", "rail", "reef", "wing",
)  # fmt: skip
"""Words of no chapter, which mean as little as `x`: of one axis there are 24 variants, of two 552."""
SETUP = "sl.setup(8)"
TOLD = re.compile(r"^sl\.setup\(8, axes=\{((?:'[a-z]+': '[a-z]+'(?:, )?)+)\}\)", re.MULTILINE)
"""The last line of a variant's first cell."""


def drawn(chapter: int, seed: str) -> dict[str, str]:
    """By axis of a chapter its name in the variant that this seed draws; empty for a chapter without variants."""
    axes = AXES.get(chapter, ())
    return dict(zip(axes, random.Random(f"variant/{chapter}/{seed}").sample(NAMES, len(axes))))


def names_here(id: str) -> dict[str, str]:
    """What this session's notebook calls the axes of an exercise."""
    return {axis: HERE[axis] for axis in AXES.get(int(id.partition(".")[0]), ()) if axis in HERE}


def unvaried(asked: Question) -> str:
    """Why an exercise has no variants; empty where it has."""
    chapter = int(asked.id.partition(".")[0])
    cases = [case for item in asked.items for case in getattr(item, "cases", ()) if isinstance(case, Case)]
    if any(name in AXES.get(chapter, ()) for case in cases for name, _ in case.axes):
        return ""
    return WHY[chapter] if cases else "no program on a mesh"


def asking(asked: Question, names: Mapping[str, str], seed: int | None = None) -> dict[str, Any]:
    """The manifest of a question in a variant."""
    return with_names(asked.manifest(seed), names)


def with_names(manifest: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A manifest that asks a notebook with these names, and tells them; programs are exported with the course's."""
    items = [*map(Renaming(names).asked, manifest["items"])]
    return {**manifest, "items": items, "axes": dict(names)} if names else {**manifest}


def translated(answer: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """What was recorded of a notebook with these names, in the course's names."""
    value = Renaming(names).value
    return {"items": {name: value(entry) if names else entry for name, entry in answer["items"].items()}}


def worded(asked: Question) -> Question:
    """The question with its hints and explanation in the names of this session's notebook; it judges as it does."""
    text = Renaming(names_here(asked.id)).text
    first, second, third = map(text, asked.hints)
    return dataclasses.replace(asked, hints=(first, second, third), explanation=text(asked.explanation))


def told(verdict: Verdict, names: Mapping[str, str]) -> Verdict:
    """A verdict in a variant's names."""
    if not names:
        return verdict
    findings = tuple(_finding(finding, Renaming(names)) for finding in verdict.findings)
    return dataclasses.replace(verdict, findings=findings)


def _finding(f: Finding, renaming: Renaming) -> Finding:
    what, expected, got, where, cause, line = map(renaming.text, (f.what, f.expected, f.got, f.where, f.cause, f.line))
    pictures = f.pictures and (renaming.placement(f.pictures[0]), renaming.placement(f.pictures[1]))
    texts = dataclasses.replace(f, what=what, expected=expected, got=got, where=where, cause=cause, line=line)
    return dataclasses.replace(texts, pictures=pictures)


def notebook(given: NotebookNode, names: Mapping[str, str]) -> NotebookNode:
    """A chapter's notebook, or its source, in a variant; its first cell says so to `sl.check`."""
    edition, renaming = copy.deepcopy(given), Renaming(names)
    for cell in edition.cells if names else ():
        cell.source = code(cell.source, renaming) if cell.cell_type == "code" else renaming.text(cell.source)
        if cell.source.endswith(f"\n{SETUP}"):
            cell.source = f"{cell.source.removesuffix(SETUP)}sl.setup(8, axes={dict(names)!r})"
    return edition


def code(text: str, renaming: Renaming) -> str:
    """A cell's code with the other names: in its strings, its comments, and the keywords of its calls."""
    lines = text.split("\n")
    try:
        changes = [*_changes(text, renaming)]
    except (tokenize.TokenError, SyntaxError):
        return renaming.text(text)
    for (row, column), (end_row, end), new in reversed(changes):
        before, after = lines[row - 1][:column], lines[end_row - 1][end:]
        lines[row - 1 : end_row] = (before + new + after).split("\n")
    return "\n".join(lines)


def _changes(text: str, renaming: Renaming) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
    """What is to be replaced, from where to where, and by what."""
    tokens = [
        t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in (tokenize.NL, tokenize.NEWLINE)
    ]
    opened: list[bool] = []
    """For each bracket that is open whether it calls something."""
    for n, token in enumerate(tokens):
        if token.string in ("(", "[", "{"):
            opened.append(token.string == "(" and (n < 2 or tokens[n - 2].string != "def"))
        elif token.string in (")", "]", "}") and opened:
            opened.pop()
        keyword = token.type == tokenize.NAME and tokens[n - 1].string in ("(", ",") and tokens[n + 1].string == "="
        if keyword and opened and opened[-1] and token.string in renaming.both:
            yield token.start, token.end, renaming.both[token.string]
        elif token.type in (tokenize.STRING, tokenize.COMMENT, *_PARTS) and renaming.text(token.string) != token.string:
            yield token.start, token.end, renaming.text(token.string)


_PARTS = (getattr(tokenize, "FSTRING_MIDDLE", -1),)
"""The text of an f-string, from Python 3.12 on; before, it is a string."""
