"""Causes of wrong values that have right parts: each in another place, or missing, or the complex conjugate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import Blocks, close, fits, held
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
