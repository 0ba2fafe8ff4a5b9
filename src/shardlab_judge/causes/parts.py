"""Causes of wrong values that have right parts: each in another place, or missing, or the complex conjugate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import Blocks, assembled, close, fits, held
from shardlab_judge.question import Misconception


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


Misplaced = tuple[int, int, int]
"""A device, the place of a part on it, and the place where this part belongs."""


def parts_in_other_places(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Cut into as many parts as an axis has devices, every part is one of the right ones, or 0."""
    if not fits(blocks, right):
        return None
    sizes = sorted({size for _, size in observed.case.axes if size > 1}, reverse=True)
    for n, dimension in itertools.product(sizes, range(right.ndim)):
        wrong = _misplaced(blocks, right, n, dimension)
        if wrong:
            device, place, belongs = wrong[0]
            return Misconception(
                "parts-in-other-places",
                f"Cut into {n} parts along dimension {dimension}, every part is right in itself, or 0, but some are in the "
                f"wrong place: on device {device}, part {belongs} is where part {place} should be. Look at which device a "
                "part comes from, in each round, and where it is put.",
            )
    return None


def _misplaced(blocks: Blocks, right: np.ndarray, n: int, dimension: int) -> list[Misplaced]:
    """All that are in another place; none where something else is wrong, or where parts can't be told apart."""
    wrong: list[Misplaced] = []
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
                return []
            if belongs not in (place, n):
                wrong.append((device, place, belongs))
    return wrong


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
