"""What all kinds say alike: findings with the cause from a known wrong answer, and the words for specs and collectives."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from shardlab_judge.causes.exceptions import likely
from shardlab_judge.question import Check, Item, Misconception
from shardlab_judge.verdict import Finding
from shardlens import WRITER as STUDENT
from shardlens import Axes, Placement, Spec, place
from shardlens import name_of_file as name_of

MOST = 5
"""Lines that a finding shows of those that communicate."""
_OURS = re.compile(r"(?P<what>\[[a-z-]+\] .*)\n  where: (?P<where>.*)\n  mend:  (?P<mend>.*)", re.DOTALL)
"""A message of Shardlab's own; its last part is what an answer's finding has for a cause."""

OPEN = {"type": "", "message": "still `...`"}
"""What is told of an answer that is not there yet, where others are."""
PUT_INSIDE = Misconception(
    "device-put-inside",
    "Your function calls jax.device_put. Under jit, along Auto axes, JAX for CPUs silently ignores that call. Use "
    "jax.lax.with_sharding_constraint to ask for a sharding there.",
)
"""Of an output with another sharding, where the answer says that it calls it: nobody sees this in the exported program."""


def explained(finding: Finding, known: Misconception | None) -> Finding:
    """The finding with cause and hint of the known wrong answer, if one was recognised."""
    if known is None:
        return finding
    return dataclasses.replace(finding, cause=known.cause, hint=known.hint, misconception=known.id)


def raised(item: Item, error: Mapping[str, str], what: str, where: str = "") -> Finding:
    """The finding for an exception of the student's code."""
    text = f"{error['type']}: {error['message']}"
    line = error.get("line", "")
    known = next((m for m in item.misconceptions if m.error and _said(m.error, text, where)), None)
    if ours := _OURS.fullmatch(error["message"]):
        got, quoted = short(f"{error['type']}: {ours['what']}", 400), ours["where"].replace("\n         ", "\n")
        place = "\n".join(filter(None, [quoted[:400], where]))
        found = Finding(item.name, item.first, what, item.form, got, place, line=line)
        return explained(found, known) if known else dataclasses.replace(found, cause=short(ours["mend"], 400))
    got = short(text.removeprefix(": ").removesuffix(": "), 400)
    return explained(Finding(item.name, item.first, what, item.form, got, where, line=line), known or likely(text, line))


def _said(error: str | Callable[[str, str], bool], text: str, where: str) -> bool:
    return bool(re.search(error, text)) if isinstance(error, str) else error(text, where)


def checked(checks: Iterable[Check], letter: str, item: Item, seen: Any) -> Iterator[Finding]:
    """What a question's own checks of a letter find."""
    for check in checks:
        if check.letter == letter:
            yield from check.find(item, seen)


def short(text: str, most: int = 120) -> str:
    """One line of at most `most` characters."""
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= most else text[: most - 3] + "..."


def shown(value: Any, most: int = 120) -> str:
    """A value of a student's on one line; Python writes no whole number of more than 4300 digits."""
    try:
        return short(repr(value), most)
    except ValueError:
        return "a number of thousands of digits"


def describe(collectives: Iterable[Any]) -> str:
    """The collectives in a few words: `2 all-gathers over x, 1 all-reduce over y`."""
    counts: dict[str, int] = {}
    for c in collectives:
        over = f" over {', '.join(c.axes)}" if c.axes else ""
        counts[f"{c.kind}{over}"] = counts.get(f"{c.kind}{over}", 0) + 1
    return ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "no collectives"


def moves(observed: Any) -> tuple[tuple[int, str], ...]:
    """Each collective of an observed program: the number of the student's operation that it serves, and what it is."""
    numbered = re.compile(rf"{name_of(STUDENT)}:(\d+)")
    found = ((numbered.fullmatch(c.source), describe([c]).removeprefix("1 "), c.payload_bytes) for c in observed.collectives)
    return tuple((int(place[1]), f"{what}, {size:,} B") for place, what, size in found if place)


def located(finding: Finding, lines: Mapping[str, Sequence[int]]) -> Finding:
    """The finding with the student's lines that its collectives serve, as far as `lines` tells."""
    numbered = {number: line for line, numbers in lines.items() for number in numbers}
    served: dict[str, list[str]] = {}
    for number, what in finding.moves:
        if number in numbered:
            served.setdefault(numbered[number], []).append(what)
    counts = {line: collections.Counter(each).items() for line, each in served.items()}
    told = ["\n".join([line, *(f"    {count} {what}" for what, count in each)]) for line, each in counts.items()]
    return dataclasses.replace(finding, moves=(), line=finding.line or "\n".join(told[:MOST]))


def placed_as(shape: Sequence[int], axes: Axes, spec: Spec) -> Placement | None:
    """What devices should hold of an array, without mesh and spec, which would be the answer; `None` if it does not fit."""
    try:
        return dataclasses.replace(place(tuple(shape), axes, spec), axes=None, spec=None)
    except ValueError:
        return None


def spec_text(spec: Any, terms: tuple[str, ...] = ()) -> str:
    """A spec as the student writes it: `P('x', None)`, `P(None, unreduced={'x'})`."""
    unreduced = [f"unreduced={{{', '.join(map(repr, sorted(terms)))}}}"] if terms else []
    return "another kind of sharding" if spec is None else f"P({', '.join([*map(repr, spec), *unreduced])})"
