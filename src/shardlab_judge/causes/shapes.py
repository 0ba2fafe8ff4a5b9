"""Causes of outputs of another shape: right blocks put together in another way, or too few, or too short."""

from __future__ import annotations

import itertools

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import Blocks, assembled, but, close
from shardlab_judge.question import Misconception


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
