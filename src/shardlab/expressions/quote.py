"""How a faulty expression is shown: quoted, with carets under the faults, and what stands beside it."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Sequence

from shardlab.errors import ShardingError

Span = tuple[int, int]
WIDTH = 88
FAULTS = 3


@dataclasses.dataclass(frozen=True)
class Fault:
    """One mistake: its id, what is wrong, what to try, and the characters that it is about (start and stop)."""

    reference: str
    what: str
    mend: str
    spans: tuple[Span, ...] = ()


def sharding_error(text: str, faults: Sequence[Fault], *context: str) -> ShardingError:
    """One error for all `faults` of the expression `text`; the first gives the id."""
    merged: dict[tuple[str, str, str], list[Span]] = {}
    for fault in faults:
        merged.setdefault((fault.reference, fault.what.rstrip("."), fault.mend), []).extend(fault.spans)
    said = list(merged)[:FAULTS]
    what = "; ".join(text for _, text, _ in said) + "."
    if len(said) < len(merged):
        what += f" And {len(merged) - len(said)} more."
    quoted, carets = quote(text, [span for key in said for span in merged[key]])
    where = "   ".join([quoted, *filter(None, context)]) + (f"\n{carets}" if carets else "")
    return ShardingError(said[0][0], what, where=where, mend="\n".join(dict.fromkeys(mend for _, _, mend in said)))


def quote(text: str, spans: Sequence[Span]) -> tuple[str, str]:
    """`text` in double quotes on one line, cut where it is long, and the line of carets that goes under it.

    Every character keeps its place: a line break becomes a space, what cannot be printed a replacement character.
    """
    start = 0 if len(text) <= WIDTH else max(0, min((a for a, _ in spans), default=0) - WIDTH // 3)
    stop = min(len(text), start + WIDTH)
    head, tail = '"' + "…" * (start > 0), "…" * (stop < len(text)) + '"'
    under = {i for a, b in spans for i in range(max(a, start), min(max(b, a + 1), stop + 1))}
    marks = "".join(("^" if i in under else " ") * _width(c) for i, c in enumerate(f"{text[start:stop]} ", start))
    return head + "".join(map(_shown, text[start:stop])) + tail, (" " * len(head) + marks).rstrip()


def either(choices: Sequence[str]) -> str:
    """`'a', 'b' or 'c'`."""
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last


def number(n: int) -> str:
    """`n` in digits, or its size where it is absurdly long."""
    return str(n) if n < 10**18 else "more than 10^18"


def shown(word: str) -> str:
    """`word` in single quotes as an error prints it, cut where it is long."""
    return "'" + "".join(map(_shown, word if len(word) <= 40 else word[:39] + "…")) + "'"


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def _width(character: str) -> int:
    """Columns that a terminal gives to `character` as it is shown."""
    # By hand, because expressions are read in a browser too, where rich is not.
    given = _shown(character)
    return 0 if unicodedata.combining(given) else 1 + (unicodedata.east_asian_width(given) in "WF")
