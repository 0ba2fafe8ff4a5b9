"""Causes of wrong values that are sums with an argument: a step from it that is too long, or weights that are other ones.

An optimiser's step, a residual and a moving average are such sums: `right = argument + change`, and what comes out has
another change; or right and wrong are both weighted sums of the arguments.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import Blocks, assembled, held
from shardlab_judge.inputs import wide
from shardlab_judge.question import Misconception

NEAR = 2e-3
"""The part of a change that may be rounding."""
NEXT = ("value before", "value itself", "value after")
SMALL = 1e-4
"""The part of an argument below which a change can't be told from rounding."""


def change_of_an_argument(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """The right change of an argument, times a factor; or a constant as the change."""
    made = assembled(blocks)
    if not held(blocks, made) or made.shape != right.shape:
        return None
    for number, x in _like(observed, right):
        change, due = made - x, right - x
        scale = np.abs(x).max()
        if np.abs(due).max() <= SMALL * scale or not np.isfinite(change).all():
            continue
        told = f"The output's difference from argument number {number} after the mesh"
        times = float(np.vdot(due, change) / np.vdot(due, due))
        if _near(change, times * due, scale):
            words = "has the wrong sign" if abs(times + 1) < NEAR else f"is {times:.4g} times what it has to be"
            return Misconception("change-times-a-factor", f"{told} {words}: look at the factor or sign of what is added.")
        constant = float(change.flat[0])
        if _near(change, np.full_like(change, constant), scale):
            return Misconception("argument-and-a-constant", f"{told} is {constant:.4g} everywhere, whatever the values are.")
    return None


def other_weights(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Arguments added up with weights, as in the right output, and other ones."""
    made, given = assembled(blocks), [*_like(observed, right)]
    if not held(blocks, made) or made.shape != right.shape or not 2 <= len(given) <= 4 or right.size < 8 * len(given):
        return None
    columns = np.stack([x.ravel() for _, x in given], 1)
    fitted = [np.linalg.lstsq(columns, each.ravel(), rcond=None)[0] for each in (made, right)]
    if not all(np.allclose(columns @ by, each.ravel(), rtol=1e-4, atol=1e-5) for by, each in zip(fitted, (made, right))):
        return None
    mine, due = fitted
    numbers = [number for number, _ in given]
    wrong = [(n, m, d) for n, m, d in zip(numbers, mine, due) if abs(m - d) > NEAR * max(abs(due))]
    named = " and ".join(str(n) for n, _, _ in wrong)
    told = f"The output is a weighted sum of arguments number {' and '.join(map(str, numbers))} after the mesh"
    if len(wrong) == 2 and np.allclose([m for _, m, _ in wrong], [d for _, _, d in wrong][::-1], NEAR, NEAR):
        return Misconception("weights-exchanged", f"{told}, as it should be, but the weights of {named} are exchanged.")
    if wrong and all(abs(m + d) < NEAR * max(abs(due)) for _, m, d in wrong):
        return Misconception("weights-negated", f"{told}, as it should be, but the sign of number {named} is wrong.")
    return Misconception("other-weights", f"{told}, as it should be, but the weight of number {named} is wrong.")


def neighbours(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """An argument and its neighbours along a dimension added up with other weights; ends of the array do not count."""
    made = assembled(blocks)
    if not held(blocks, made) or made.shape != right.shape:
        return None
    for (number, x), d in itertools.product(_like(observed, right), range(right.ndim)):
        inner = [np.moveaxis(a, d, 0)[1:-1].ravel() for a in (made, right)]
        rows = np.moveaxis(x, d, 0)
        columns = np.stack([rows[:-2].ravel(), rows[1:-1].ravel(), rows[2:].ravel()], 1)
        if len(columns) < 24:
            continue
        mine, due = (np.linalg.lstsq(columns, each, rcond=None)[0] for each in inner)
        if np.allclose(columns @ mine, inner[0], 1e-4, 1e-4) and np.allclose(columns @ due, inner[1], 1e-4, 1e-4):
            wrong = [(m, w) for m, w, right in zip(mine, NEXT, due) if abs(m - right) > NEAR * max(abs(due))]
            told = " and ".join(f"the {words} is added {m:.4g} times" for m, words in wrong)
            what = f"Along dimension {d} of argument number {number} after the mesh, {told}, which is wrong."
            return Misconception("neighbours-weights", what) if wrong else None
    return None


def _like(observed: Observed, right: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The arguments that have the right output's shape, with their numbers."""
    for number, x in enumerate(map(wide, observed.inputs), 1):
        if x.shape == right.shape and right.size > 2 and x.dtype.kind == right.dtype.kind == "f" and x.any():
            yield number, x


def _near(found: np.ndarray, wanted: np.ndarray, scale: float) -> bool:
    """Whether a change is this one, up to rounding, and is more than rounding."""
    size = np.abs(wanted).max()
    return bool(size > SMALL * scale and np.abs(found - wanted).max() <= NEAR * size + 1e-6 * scale)
