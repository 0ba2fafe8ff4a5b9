"""Causes of wrong values that any program may have: what comes out is right for arguments that are a little different."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import held
from shardlab_judge.inputs import wide
from shardlab_judge.question import Item, Misconception
from shardlab_judge.rights import rights

Changed = tuple[str, str, tuple[np.ndarray, ...]]
"""What the cause says, its name, and the arguments after the change."""


def likely(item: Item, observed: Observed, right: tuple[np.ndarray, ...]) -> Misconception | None:
    """The one change of the arguments after which what devices hold is right; nothing if there are several."""
    found = []
    for cause, name, given in _changes(tuple(map(wide, observed.inputs))):
        made = _made(item, dataclasses.replace(observed, inputs=given))
        if _held(observed, made) and not _alike(made, right):
            found.append(Misconception(name, cause))
    return found[0] if len(found) == 1 else None


def _changes(inputs: tuple[np.ndarray, ...]) -> Iterator[Changed]:
    for n, x in enumerate(inputs):
        if not np.issubdtype(x.dtype, np.inexact):
            continue
        told = f"The output would be right if argument number {n + 1} after the mesh"
        for words, name, other in _others(x):
            yield f"{told} {words}.", name, (*inputs[:n], other, *inputs[n + 1 :])
    for m, n in itertools.combinations(range(len(inputs)), 2):
        if inputs[m].shape == inputs[n].shape and inputs[m].dtype == inputs[n].dtype:
            swapped = list(inputs)
            swapped[m], swapped[n] = inputs[n], inputs[m]
            what = f"The output would be right if arguments number {m + 1} and {n + 1} after the mesh were exchanged."
            yield what, "arguments-exchanged", tuple(swapped)


def _others(x: np.ndarray) -> Iterator[tuple[str, str, np.ndarray]]:
    """One argument changed: the words for it, the cause's name, and the array."""
    yield "were 0 everywhere, so your program does not use that argument", "argument-unused", np.zeros_like(x)
    yield "had the opposite sign", "argument-negated", -x
    if x.ndim == 2 and x.shape[0] == x.shape[1]:
        yield "were transposed", "argument-transposed", x.T
    for d, by in itertools.product(range(x.ndim), (-1, 1)):
        if x.shape[d] > 2:
            yield f"were rolled by one along dimension {d}", "argument-shifted", np.roll(x, by, d)


def _made(item: Item, observed: Observed) -> tuple[np.ndarray, ...]:
    try:
        with np.errstate(all="ignore"):
            return rights(item, observed)
    except Exception:  # an oracle that is not defined for such arguments recognises nothing
        return ()


def _held(observed: Observed, made: tuple[np.ndarray, ...]) -> bool:
    return len(made) == len(observed.values) and all(held([*shards], x) for shards, x in zip(observed.values, made))


def _alike(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in zip(one, other))
