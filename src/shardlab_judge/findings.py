"""What all judges share: the form of an answer's entry, and findings with the cause from a known wrong answer."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from shardlab_judge.question import Item, Miss
from shardlab_judge.verdict import Finding

Entry = Mapping[str, Any]
Judged = tuple[dict[str, float], list[Finding]]
"""For each letter the share of its points that is earned, and the findings."""

ASKED = {
    "placement": "an array or a sharding",
    "value": "a value",
    "calls": "a function",
    "program": "a function of the mesh and the arrays",
    "processes": "a function that each process runs",
    "expression": "a sharding expression, as text",
    "layout": "a dict with a spec, or an expression as text, for each array",
    "design": "a dict with a layout and a step",
    "rules": "a list of pairs: a path pattern and an expression",
}

COMMON = tuple(
    Miss(id, cause, error=error)
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
"""Causes of exceptions that any question may meet; a question's own misses come first."""


def asked(item: Item) -> str:
    """What kind of thing the item wants, in words."""
    return ASKED[item.kind]


def explained(finding: Finding, miss: Miss | None) -> Finding:
    """The finding with cause and hint of the known wrong answer, if one was recognised."""
    return finding if miss is None else dataclasses.replace(finding, cause=miss.cause, hint=miss.hint, miss=miss.id)


def raised(item: Item, error: Mapping[str, str], what: str, where: str = "") -> Finding:
    """The finding for an exception of the student's code."""
    text = f"{error['type']}: {error['message']}"
    miss = next((m for m in (*item.misses, *COMMON) if m.error and re.search(m.error, text)), None)
    first = next(iter(item.points))
    return explained(Finding(item.name, first, what, asked(item), short(text, 400), where), miss)


def short(text: str, most: int = 120) -> str:
    """One line of at most `most` characters."""
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= most else text[: most - 3] + "..."
