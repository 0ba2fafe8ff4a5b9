"""Causes of wrong values that are sums with an argument: a step from it that is too long, or weights that are other ones.

An optimiser's step, a residual and a moving average are such sums: `right = argument + change`, and what comes out has
another change; or right and wrong are both weighted sums of the arguments.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import Blocks, assembled, close, fits, held
from shardlab_judge.inputs import wide
from shardlab_judge.question import Misconception

NEAR = 2e-3
"""The part of a change that may be rounding."""
MANY = 8
"""How many times the median of a change its largest value may be, if rounding is compared with that."""
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
        if _near(made - right, (times - 1) * due, scale):
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
    if not wrong:
        return None
    named = " and ".join(str(n) for n, _, _ in wrong)
    told = f"The output is a weighted sum of arguments number {' and '.join(map(str, numbers))} after the mesh"
    if len(wrong) == 2 and np.allclose([m for _, m, _ in wrong], [d for _, _, d in wrong][::-1], NEAR, NEAR):
        return Misconception("weights-exchanged", f"{told}, as it should be, but the weights of {named} are exchanged.")
    if all(abs(m + d) < NEAR * max(abs(due)) for _, m, d in wrong):
        return Misconception("weights-negated", f"{told}, as it should be, but the sign of number {named} is wrong.")
    return Misconception("other-weights", f"{told}, as it should be, but the weight of number {named} is wrong.")


def neighbours(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """An argument and its neighbours along a dimension added up with other weights; edges of blocks do not count."""
    made = assembled(blocks)
    if not held(blocks, made) or made.shape != right.shape:
        return None
    for (number, x), d in itertools.product(_like(observed, right), range(right.ndim)):
        length = blocks[0][2].shape[d]
        at = np.array([n for n in range(right.shape[d]) if 0 < n % length < length - 1], int)
        inner = [a.take(at, d).ravel() for a in (made, right)]
        columns = np.stack([x.take(at + by, d).ravel() for by in (-1, 0, 1)], 1)
        if len(columns) < 24:
            continue
        mine, due = (np.linalg.lstsq(columns, each, rcond=None)[0] for each in inner)
        if np.allclose(columns @ mine, inner[0], 1e-4, 1e-4) and np.allclose(columns @ due, inner[1], 1e-4, 1e-4):
            mine = np.where(np.abs(mine) > NEAR * max(abs(due)), mine, 0)  # what is less is rounding
            wrong = [(m, w) for m, w, right in zip(mine, NEXT, due) if abs(m - right) > NEAR * max(abs(due))]
            told = " and ".join(f"the {words} is added {m:.4g} times" for m, words in wrong)
            told = f"Along dimension {d} of argument number {number} after the mesh, {told}, which is wrong."
            return Misconception("neighbours-weights", told) if wrong else None
    return None


def other_terms(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Of a sum over an argument's slices, parts that have other slices' terms, or some of them twice."""
    for number, x in enumerate(map(wide, observed.inputs), 1):
        if x.shape[1:] == right.shape and right.ndim and fits(blocks, right) and close(x.sum(0), right):
            words = _other_terms(x, blocks, right)
            told = f"Each part is a sum of slices of argument number {number} after the mesh, but of other ones: {words}."
            return Misconception("other-terms", told) if words else None
    return None


def _other_terms(x: np.ndarray, blocks: Blocks, right: np.ndarray) -> str:
    """The first part that is another sum than it should be; empty if none is, or if some part is no sum of slices."""
    n, (rows, rest) = len(x), divmod(len(right), len(x))
    if rest or rows * math.prod(right.shape[1:]) < n + 4 or any(len(block) % rows for _, _, block in blocks):
        return ""
    told = ""
    columns = [part.reshape(n, -1).T for part in np.split(x, n, 1)]
    for device, index, block in blocks:
        for place, part in enumerate(np.split(block, len(block) // rows), index[0].start // rows):
            order = sorted(range(n), key=lambda c: c != place)
            counted = ((c, _counts(columns[c], part.ravel())) for c in order)
            of, counts = next(((c, found) for c, found in counted if found is not None), (n, np.zeros(0)))
            if of == n:
                return ""
            if of != place or (counts != 1).any():
                told = told or f"on device {device}, part {place} is {_slices(of, counts)}"
    return told


def _counts(columns: np.ndarray, part: np.ndarray) -> np.ndarray | None:
    """How often each column is in a sum, if it is one; not a sum of nothing."""
    counts = np.asarray(np.round(np.linalg.lstsq(columns, part, rcond=None)[0]))
    return counts if counts.any() and np.allclose(columns @ counts, part, 1e-4, 1e-4) else None


def _slices(of: int, counts: np.ndarray) -> str:
    lost = [str(n) for n, count in enumerate(counts) if count == 0]
    words = [f"without slice{'s' * (len(lost) > 1)} {', '.join(lost)}"] * bool(lost)
    words += [f"with slice {n} {count:.0f} times" for n, count in enumerate(counts) if count not in (0, 1)]
    return f"part {of} of the slices, added up {' and '.join(words)}".rstrip()


def _like(observed: Observed, right: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The arguments that have the right output's shape, with their numbers."""
    for number, x in enumerate(map(wide, observed.inputs), 1):
        if x.shape == right.shape and right.size > 2 and x.dtype.kind == right.dtype.kind == "f" and x.any():
            yield number, x


def _near(found: np.ndarray, wanted: np.ndarray, scale: float) -> bool:
    """Whether a change is this one, up to rounding, and is more than rounding; a few large values do not hide others."""
    size = np.abs(wanted).max()
    most = NEAR * min(size, MANY * np.median(np.abs(wanted))) + 1e-6 * scale
    return bool(size > SMALL * scale and np.abs(found - wanted).max() <= most)
