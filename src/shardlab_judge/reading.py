"""Expressions and specs as text: read here, whatever they are, and no code of the student's runs."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from shardlab.errors import ShardlabError
from shardlab.expressions.resolution import Resolution, resolve, resolve_on
from shardlab_judge.findings import raised, short, shown
from shardlab_judge.question import Item
from shardlab_judge.verdict import Finding
from shardlens import Axes, LensError, Placement, place

Shape = tuple[int, ...]
AS_VALUE = {"kind": "value", "predicted": False}
"""What the manifest says of an item whose answer is recorded as a value."""
LONGEST = 200


def resolved(text: Any, shape: Shape, axes: Axes | None, devices: int) -> Resolution:
    """What an untrusted expression, or a spec as a list, means for a shape.

    Raises:
        ShardlabError: it is too long, cannot be read, or does not fit.
    """
    if isinstance(text, list):
        return _of_spec(text, shape, axes)
    if isinstance(text, str) and len(text) > LONGEST:
        raise ShardlabError(
            "expression-too-long",
            f"the expression has {len(text)} characters.",
            where=text[:40] + "...",
            mend=f"write at most {LONGEST}.",
        )
    found = None if axes is None else resolve_on(text, shape, axes)
    return found or resolve(text, shape, devices if axes is None else math.prod(n for _, n in axes))


def placed(text: Any, shape: Shape, axes: Axes | None, devices: int) -> Placement:
    """The placement that an untrusted expression names.

    Raises:
        ShardlabError: as for `resolved`.
    """
    found = resolved(text, shape, axes, devices)
    return place(shape, found.axes, found.spec)


def unread(item: Item, error: ShardlabError) -> Finding:
    """The finding for an expression that cannot be read or does not fit: the expression with carets, and how to mend it."""
    found = raised(item, {"type": type(error).__name__, "message": str(error)}, f"{item.name}: {error.what}")
    return dataclasses.replace(found, expected="", got=error.where, cause=found.cause or error.mend.replace("\n", " "))


def _of_spec(entries: list[Any], shape: Shape, axes: Axes | None) -> Resolution:
    spec = tuple(tuple(entry) if isinstance(entry, list) else entry for entry in entries)
    names = [name for entry in spec for name in (entry if isinstance(entry, tuple) else (entry,))]
    try:
        if axes is None or not all(name is None or isinstance(name, str) for name in names):
            raise ValueError("its entries should be mesh axes, tuples of them, or None")
        place(shape, axes, spec)
    except ValueError as error:
        raise ShardlabError(
            "spec-does-not-fit",
            error.what if isinstance(error, LensError) else f"{error}.",
            where=short(f"P({', '.join(map(shown, spec))})"),
            mend="name each mesh axis at most once in a spec, for a dimension that it divides.",
        ) from error
    return Resolution(axes, (*spec, *[None] * (len(shape) - len(spec))))
