"""Recognising the wrong programs that we know, by what they did."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import fits
from shardlab_judge.inputs import wide
from shardlab_judge.question import Item, Misconception, holds
from shardlab_judge.rights import returned, rights
from shardlens import place

NEARER = 5
"""How many times as near a program's values must be to a known wrong answer's as to the right ones: what is wrong in another
way and by little is near to both."""


def find_misconception(item: Item, observed: Observed, letter: str) -> Misconception | None:
    """The first known wrong answer that the program behaves like; of wrong values first one that has these very values."""
    if letter == "V":
        for known in item.misconceptions:
            if known.like is not None and _equals(item, observed, known.like):
                return known
            if known.local is not None and _acts_like(observed, known.local):
                return known
    seen = observed
    if letter in ("H", "M"):
        # What costs bytes is asked as if the values were right: what makes these wrong is told where values are.
        seen = _with_right_values(item, observed, where_they_lie=True) or observed
    held = [m for m in item.misconceptions if m.when is not None and m.explains(letter) and holds(m.when, seen)]
    if letter == "V" and held:
        # What is found though values are right does not make them wrong: it is told where bytes are, or places.
        right = [_with_right_values(item, observed, where_they_lie=there) for there in (False, True)]
        held = [m for m in held if m.breaks or m.when is None or not any(o and holds(m.when, o) for o in right)]
    return next(iter(held), None)


def _with_right_values(item: Item, observed: Observed, *, where_they_lie: bool = False) -> Observed | None:
    """The same program as if its outputs were right; `None` where values are not what counts, or do not fit.

    They lie as they should, or, with `where_they_lie`, as the program left them.
    """
    outputs = rights(item, observed)
    if not outputs or any(observed.case.terms) or (getattr(item, "manual", False) and not observed.manual):
        return None
    shards, placements = [], []
    for right, spec, lies in zip(outputs, observed.case.outputs, observed.placements):
        if where_they_lie and lies.shape != right.shape:
            return None
        placed = lies if where_they_lie else place(right.shape, observed.case.axes, spec or ())
        if lies.dtype and np.can_cast(right.dtype, lies.dtype, "same_kind") and np.can_cast(lies.dtype, right.dtype):
            right = right.astype(lies.dtype)  # the oracle computes in double precision, and blocks have bytes
        blocks = ((device, tuple(slice(*part) for part in index)) for device, index in placed.shards)
        shards.append(tuple((device, index, right[index]) for device, index in blocks))
        placements.append(dataclasses.replace(placed, dtype=str(right.dtype)))
    return dataclasses.replace(observed, shards=tuple(shards), placements=tuple(placements))


def is_barred(item: Item, observed: Observed) -> bool:
    """Whether the program goes one of the ways that the item does not ask for."""
    return any(known.barred and known.when is not None and holds(known.when, observed) for known in item.misconceptions)


def _equals(item: Item, observed: Observed, wrong: Any) -> bool:
    # Looser than a check: the wrong values are computed in double precision here, and were in single precision there.
    try:
        outputs = returned(wrong, observed)
        close = all(
            fits([*shards], o) and all(np.allclose(block, o[index], rtol=1e-4, atol=1e-4) for _, index, block in shards)
            for shards, o in zip(observed.values, outputs, strict=True)
        )
        right = rights(item, observed) if close else ()
        return close and (not right or NEARER * _apart(observed, outputs) <= _apart(observed, right))
    except Exception:  # a known wrong answer that does not fit this case's shapes recognises nothing
        return False


def _apart(observed: Observed, outputs: tuple[np.ndarray, ...]) -> float:
    """The largest difference from these outputs; infinite where shapes differ."""
    pairs = [(block, o[index]) for shards, o in zip(observed.values, outputs) for _, index, block in shards]
    return max(float(np.abs(b - o).max(initial=0)) if b.shape == o.shape else np.inf for b, o in pairs)


def _acts_like(observed: Observed, local: Any) -> bool:
    case, inputs = observed.case, observed.inputs
    names, sizes = zip(*case.axes)
    maps = [dict(place(x.shape, case.axes, i.spec).shards) for x, i in zip(inputs, case.inputs)]
    try:
        for number, (device, *_) in enumerate(observed.shards[0]):
            coordinates = dict(zip(names, map(int, np.unravel_index(device, sizes))))
            blocks = [wide(x[tuple(slice(*s) for s in m[device])]) for x, m in zip(inputs, maps)]
            made = local(coordinates, *blocks)
            outputs = made if isinstance(made, tuple) else (made,)
            held = [shards[number][2] for shards in observed.shards[: len(outputs)]]
            if not all(np.shape(w) == b.shape and np.allclose(b, w, rtol=1e-4, atol=1e-4) for w, b in zip(outputs, held)):
                return False
        return True
    except Exception:  # as above
        return False
