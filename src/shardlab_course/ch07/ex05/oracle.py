"""Chapter 7, exercise 7.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shardlab_course.ch07.shared import case, devices, each, same
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes

TOKENS = 1000
"""Places of a sentence; so many that bfloat16 does not hold the number of a device's words."""


def masked_mean(losses: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The mean over the first `lengths[i]` entries of each row i, all entries with the same weight."""
    kept = np.concatenate([row[:n] for row, n in zip(losses, lengths)])
    return np.asarray(kept.sum() / len(kept))


def losses_case(mesh: Axes, rows: int, *, idle: bool = True) -> Case:
    """Losses of sentences, rows over x, and the sentences' lengths.

    Where it is `idle`, some device has no word at all, and the padding is NaN.
    """
    losses = Input((rows, TOKENS), ("x", None), shift=2.0, values=padded_with_nan if idle else None)
    lengths = Input((rows,), ("x",), "int32", values=until_padding if idle else none_empty)
    return case(mesh, losses, lengths, outputs=[()])


def padded_with_nan(rng: np.random.Generator, shape: tuple[int, ...], before: object) -> np.ndarray:
    """Losses around 2, and NaN behind the sentences' ends."""
    losses, lengths = rng.standard_normal(shape) + 2, some_empty(rng, shape[:1], before)
    return np.where(np.arange(shape[1]) < lengths[:, None], losses, np.nan)


def until_padding(_: np.random.Generator, __: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """The lengths of sentences that are padded with NaN."""
    return np.asarray(np.isfinite(before[0]).sum(1))


def none_empty(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Lengths from a word to all places, one of each."""
    lengths = rng.integers(1, TOKENS + 1, shape)
    lengths[rng.permutation(len(lengths))[:2]] = 1, TOKENS
    return np.asarray(lengths)


def some_empty(rng: np.random.Generator, shape: tuple[int, ...], before: object) -> np.ndarray:
    """The same with no word in one quarter of the sentences, which are all that one device has, or two of eight."""
    quarters = none_empty(rng, shape, before).reshape(4, -1)
    quarters[rng.integers(4)] = 0
    return quarters.reshape(shape)


def mean_of_means(o: Observed) -> bool:
    """Whether the result is the mean of the devices' own means, or of the rows'; or the sum of the devices' means."""
    losses, lengths = o.inputs
    n = dict(o.case.axes)["x"]
    means = {}
    with np.errstate(invalid="ignore"):  # of a device without a word
        for k in (n, len(losses)):
            means[k] = [masked_mean(*pair) for pair in zip(np.split(losses, k), np.split(lengths, k))]
    return any(same(o, np.mean(of_parts)) for of_parts in means.values()) or same(o, np.sum(means[n]))


def scaled(o: Observed, oracle: Callable[..., np.ndarray]) -> bool:
    """Whether all is as many times too large, or too small, as there are devices along x."""
    right = oracle(*(x.astype(np.float64) if x.dtype.kind == "f" else x for x in o.inputs))
    return any(same(o, factor * right) for factor in (devices(o), 1 / devices(o)))


def words(o: Observed) -> list[int]:
    """How many words each device has."""
    return [part.sum() for part in np.split(o.inputs[1], devices(o))]


def padding_times_zero(o: Observed) -> bool:
    """Whether some value is NaN, and the right one if the padding is zero."""
    return _not_a_number(o) and same(_padded_with_zeros(o), masked_mean(*o.inputs))


def nothing_by_nothing(o: Observed) -> bool:
    """Whether some value is 0 / 0, where some device has no word."""
    return 0 in words(o) and _not_a_number(o) and _not_a_number(_padded_with_zeros(o))


def _padded_with_zeros(o: Observed) -> Observed:
    losses, lengths = o.inputs
    return o.on((np.nan_to_num(losses), lengths)) if o.on is not None else o


def _not_a_number(o: Observed) -> bool:
    return any(np.isnan(block).any() for *_, block in o.shards[0])


def own_counts(o: Observed) -> bool:
    """Whether each device divided the sum of all words' losses by the number of its own words."""
    (losses, lengths), counts = o.inputs, words(o)
    total = masked_mean(losses, lengths) * lengths.sum()
    with np.errstate(divide="ignore"):
        return each(o, lambda d: np.asarray(total / counts[d]))


def nothing_as_one(o: Observed) -> bool:
    """Whether a device without a word counted as one word."""
    (losses, lengths), counts = o.inputs, words(o)
    total = masked_mean(losses.astype(np.float64), lengths) * lengths.sum()
    wrong, right = total / np.maximum(counts, 1).sum(), total / np.sum(counts)
    return 0 in counts and _nearer(o, wrong, right)


def last_word_too(o: Observed) -> bool:
    """Whether every sentence had a word more than it has."""
    losses, lengths = o.inputs[0].astype(np.float64), o.inputs[1]
    wrong, right = masked_mean(losses, lengths + 1), masked_mean(losses, lengths)
    return same(o, wrong) and _nearer(o, wrong, right)


def _nearer(o: Observed, wrong: Any, right: Any) -> bool:
    """Whether every device's values are five times as near to the wrong ones as to the right ones."""
    return all(5 * np.abs(block - wrong).max() < np.abs(block - right).max() for *_, block in o.shards[0])
