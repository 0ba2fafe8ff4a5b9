"""A program as one page: a file of its own, without scripts, that opens from a disk and prints."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from shardlens.charts.memory import show_memory
from shardlens.charts.timeline import show_schedule
from shardlens.programs.program import Program
from shardlens.programs.table import or_unknown
from shardlens.reading.collectives import Collective, price
from shardlens.reading.names import operations, scope

_STYLE = (
    ":root { color-scheme: light dark } body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 72em;"
    " padding: 0 1em } table { border-collapse: collapse; font-size: 14px } td, th { padding: .15em .7em }"
    " details { margin-left: 1.2em } summary { cursor: pointer } @media print { body { max-width: none } }"
)


def page(program: Program, title: str, target: str | None = None) -> str:
    """The page's text: scopes that fold, the tables by line and of all, memory at the peak, the schedule.

    Args:
        program: from `inspect`.
        title: what it is called, as `train.py:step`.
        target: what it was compiled for; then its memory is held against the chip's.
    Example:
        >>> program = lens.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32"))
        >>> page(program, "train.py:step").splitlines()[0]
        '<!doctype html>'
    """
    tree: dict[str, Any] = {}
    for c in program.collectives:
        inside = tree
        for part in scope(operations(c.op_name)[0]).replace(" ", "/", 1).split("/"):
            inside = inside.setdefault(part, {})
        inside.setdefault("", []).append(c)
    parts = {
        "By scope": _folded(tree) or "no collectives",
        "By line": program.by("line").html() if program.collectives else "",
        "All": program.by().html(),
        "Memory at the peak": show_memory(program).html + program.occupied(target or "").html(),
        "Schedule": show_schedule(program).html if "is_scheduled=true" in program.hlo.partition("\n")[0] else "",
    }
    body = "\n".join(f"<h2>{name}</h2>\n{inner}" for name, inner in parts.items() if inner)
    named = html.escape(title + (f" for {target}" if target else ""))
    head = f'<meta charset="utf-8">\n<title>{named}</title>\n<style>{_STYLE}</style>'
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n<h1>{named}</h1>\n{body}\n</body>\n</html>\n'
    )


def _folded(tree: Mapping[str, Any]) -> str:
    """Scopes inside of scopes, each with what a device moves for all in it."""
    rows = []
    for name, inner in tree.items():
        found = _all(inner) if name else inner
        told = f"{len(found)} collectives, {or_unknown(price, found)} bytes"
        if name:
            rows.append(f"<details open><summary>{html.escape(name)}: {told}</summary>{_folded(inner)}</details>")
        else:
            kinds = ", ".join(sorted({c.kind for c in found}))
            rows.append(f"<details><summary>here: {told}</summary>{html.escape(kinds)}</details>")
    return "".join(rows)


def _all(tree: Mapping[str, Any]) -> Sequence[Collective]:
    return [c for name, inner in tree.items() for c in (_all(inner) if name else inner)]
