"""What all kinds say alike: findings with the cause from a known wrong answer, and the words for specs and collectives."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from shardlab_judge.question import Check, Item, Misconception
from shardlab_judge.verdict import Finding

COMMON = tuple(
    Misconception(id, cause, error=error)
    for id, error, cause in (
        ("host-callback", "host_callback",
         "It calls back into Python; a graded program must be JAX all the way. Remove the callback."),
        ("numpy-inside", "TracerArrayConversionError",
         "NumPy cannot work on traced arrays; use jax.numpy inside the function."),
        ("python-branch", "TracerBoolConversionError",
         "Python's `if` or `bool` needs a value, and a traced array has none yet; use jnp.where or lax.cond."),
        ("other-mesh", "incompatible devices|AbstractMesh size",
         "It uses other devices than those of the mesh that it is given; build shardings from the argument `mesh`."),
        ("promised-copies", "can't be statically inferred",
         "out_specs promises equal copies along a mesh axis on which the devices may hold different blocks."),
        ("nothing-returned", "'NoneType'.*not a valid JAX type", "The function ends without `return`."),
    )
)  # fmt: skip
"""Causes of exceptions that any question may meet; a question's own come first."""


def explained(finding: Finding, known: Misconception | None) -> Finding:
    """The finding with cause and hint of the known wrong answer, if one was recognised."""
    if known is None:
        return finding
    return dataclasses.replace(finding, cause=known.cause, hint=known.hint, misconception=known.id)


def raised(item: Item, error: Mapping[str, str], what: str, where: str = "") -> Finding:
    """The finding for an exception of the student's code."""
    text = f"{error['type']}: {error['message']}"
    known = next((m for m in (*item.misconceptions, *COMMON) if m.error and re.search(m.error, text)), None)
    return explained(Finding(item.name, item.first, what, item.form, short(text, 400), where), known)


def checked(checks: Iterable[Check], letter: str, item: Item, seen: Any) -> Iterator[Finding]:
    """What a question's own checks of a letter find."""
    for check in checks:
        if check.letter == letter:
            yield from check.find(item, seen)


def short(text: str, most: int = 120) -> str:
    """One line of at most `most` characters."""
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= most else text[: most - 3] + "..."


def describe(collectives: Iterable[Any]) -> str:
    """The collectives in a few words: `2 all-gathers over x, 1 all-reduce over y`."""
    counts: dict[str, int] = {}
    for c in collectives:
        over = f" over {', '.join(c.axes)}" if c.axes else ""
        counts[f"{c.kind}{over}"] = counts.get(f"{c.kind}{over}", 0) + 1
    return ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "no collectives"


def spec_text(spec: Any, terms: tuple[str, ...] = ()) -> str:
    """A spec as the student writes it: `P('x', None)`, `P(None, unreduced={'x'})`."""
    unreduced = [f"unreduced={{{', '.join(map(repr, sorted(terms)))}}}"] if terms else []
    return "another kind of sharding" if spec is None else f"P({', '.join([*map(repr, spec), *unreduced])})"
