"""Causes of outputs that have right parts: stacked, in another place, or missing; or that are the complex conjugate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import Blocks, assembled, but, close, fits, held
from shardlab_judge.question import Misconception

Misplaced = tuple[int, int, int]
"""A device, the place of a part on it, and the place where this part belongs."""


def parts_in_other_places(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Cut into as many parts as an axis has devices, most parts are right ones, or 0, and some of them are elsewhere."""
    if not fits(blocks, right):
        return None
    sizes = sorted({size for _, size in observed.case.axes if size > 1}, reverse=True)
    for n, dimension in itertools.product(sizes, range(right.ndim)):
        wrong = _misplaced(blocks, right, n, dimension)
        if wrong:
            device, place, belongs = wrong[0]
            return Misconception(
                "parts-in-other-places",
                f"Cut into {n} parts along dimension {dimension}, most parts are right in themselves, or 0, but some are in "
                f"the wrong place: on device {device}, part {belongs} is where part {place} should be. Look at which device "
                "a part comes from, in each round, and where it is put.",
            )
    return None


def _misplaced(blocks: Blocks, right: np.ndarray, n: int, dimension: int) -> list[Misplaced]:
    """All that are in another place; none where most are no part, or where parts can't be told apart."""
    wrong: list[Misplaced] = []
    strange = 0
    for device, index, block in blocks:
        mine = right[index]
        if block.shape[dimension] != right.shape[dimension] or block.shape[dimension] % n or not block.size:
            return []
        due = np.split(mine, n, dimension)
        if any(close(one, other) for one, other in itertools.combinations([*due, np.zeros_like(due[0])], 2)):
            return []
        for place, part in enumerate(np.split(block, n, dimension)):
            belongs = next(_places(part, due), None)
            if belongs is None:
                strange += 1
            elif belongs not in (place, n):
                wrong.append((device, place, belongs))
    return wrong if 8 * strange <= n * len(blocks) else []


def _places(part: np.ndarray, due: list[np.ndarray]) -> Iterator[int]:
    """Where a part belongs; one more than all places if it is 0."""
    return (place for place, one in enumerate([*due, np.zeros_like(part)]) if close(part, one))


def conjugated(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Every value with the other sign of its imaginary part."""
    if not np.iscomplexobj(right) or close(right, right.conj()) or not held(blocks, right.conj()):
        return None
    return Misconception(
        "output-conjugated",
        "Every value is the complex conjugate of the right one: somewhere an imaginary part has the wrong sign.",
    )


def stacked(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Right blocks, one behind another in a dimension that the output does not have."""
    block = blocks[0][2]
    if block.ndim != right.ndim + 1 or block.shape[0] not in {size for _, size in observed.case.axes if size > 1}:
        return None
    if not all(any(_somewhere(np.concatenate([*each], d), right) for d in range(right.ndim)) for _, _, each in blocks):
        return None
    return Misconception(
        "blocks-stacked",
        f"The values are right, but {block.shape[0]} blocks are stacked in a new dimension. jax.lax.all_gather does that "
        "without tiled=True, which puts them side by side.",
    )


def another_shape(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """A part of the right output, or all of it with a dimension of length 1 more or less."""
    whole = assembled(blocks)
    if whole.shape == right.shape:
        return None
    if whole.size == right.size and [n for n in whole.shape if n > 1] == [n for n in right.shape if n > 1]:
        if whole.ndim != right.ndim and close(whole.reshape(right.shape), right):
            more = "too many" if whole.ndim > right.ndim else "too few"
            return Misconception("dimension-of-length-1", f"The values are right, with one dimension of length 1 {more}.")
        return None
    if whole.size == right.size and whole.ndim == right.ndim and all(_somewhere(block, right) for _, _, block in blocks):
        along = " and ".join(str(d) for d, (n, m) in enumerate(zip(whole.shape, right.shape)) if n > m)
        return Misconception(
            "blocks-along-another-dimension",
            f"Every block is a part of the right output, but the blocks lie side by side along dimension {along}, which is "
            "too long: look at out_specs.",
        )
    for dimension, (short, long) in enumerate(zip(whole.shape, right.shape) if whole.ndim == right.ndim else ()):
        if 0 < short < long and long % short == 0 and but(whole.shape, dimension) == but(right.shape, dimension):
            pieces = np.split(right, long // short, axis=dimension)
            part = next((n for n, piece in enumerate(pieces) if close(whole, piece)), None)
            if part is not None:
                return Misconception(
                    "one-part-only",
                    f"This is one of {long // short} parts of the right output, number {part} along dimension {dimension}. "
                    "The others are on no device, or out_specs does not say that there are others.",
                )
    return None


def _somewhere(part: np.ndarray, right: np.ndarray) -> bool:
    """Whether this is one of the equal parts into which an array can be cut."""
    if not part.size or any(whole % some for whole, some in zip(right.shape, part.shape)):
        return False
    starts = itertools.product(*(range(0, whole, some) for whole, some in zip(right.shape, part.shape)))
    cuts = (tuple(slice(s, s + n) for s, n in zip(start, part.shape)) for start in starts)
    return any(close(part, right[cut]) for cut in cuts)


def too_short(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Each device has its part of the output without the beginning, or without the end."""
    whole = assembled(blocks)
    longer = [d for d, (mine, due) in enumerate(zip(whole.shape, right.shape)) if mine < due]
    if whole.ndim != right.ndim or len(longer) != 1 or not whole.size or whole.size >= right.size:
        return None
    (d,) = longer
    short = blocks[0][2].shape[d]
    due, rest = divmod(right.shape[d] * short, whole.shape[d])
    for start, words in ((0, "the end"), (due - short, "the beginning")):
        at = [index[d].start // short * due + start for _, index, _ in blocks]
        cuts = [(*index[:d], slice(n, n + short), *index[d + 1 :]) for n, (_, index, _) in zip(at, blocks)]
        if not rest and all(close(block, right[cut]) for cut, (_, _, block) in zip(cuts, blocks)):
            told = f"Each device has its part of the output without {words}: {due - short} of {due} along dimension {d}"
            return Misconception("blocks-too-short", f"{told} are missing.")
    return None
