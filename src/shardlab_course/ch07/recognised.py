"""Chapter 7's recognisers: wrong programs by the values that they leave, and by what they send."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shardlab_course.ch07 import oracles as of
from shardlab_judge.cases import Observed

Means = Callable[[np.ndarray], np.ndarray]


def devices(o: Observed, axis: str = "x") -> int:
    """How many lie along a mesh axis."""
    return dict(o.case.axes)[axis]


def each(o: Observed, made: Callable[[int], np.ndarray]) -> bool:
    """Whether every device holds what is made for its place along x."""
    return all(
        block.shape == made(place).shape and np.allclose(block, made(place), rtol=1e-4, atol=1e-4)
        for place, block in _by_place(o)
    )


def _by_place(o: Observed) -> Iterator[tuple[int, np.ndarray]]:
    """Each device's block, with the device's place along x."""
    names, sizes = zip(*o.case.axes)
    for device, _, block in o.shards[0]:
        yield int(np.unravel_index(device, sizes)[names.index("x")]), block


def own_blocks(o: Observed) -> bool:
    """Whether every device holds its own block, under the name of the whole."""
    parts = np.split(o.inputs[0], devices(o))
    return each(o, lambda d: parts[d]) and of.shape(o) == parts[0].shape


def mean_of_means(o: Observed) -> bool:
    """Whether the result is the mean of the devices' own means, or of the rows'; or the sum of the devices' means."""
    losses, lengths = o.inputs
    n = dict(o.case.axes)["x"]
    means = {}
    with np.errstate(invalid="ignore"):  # of a device without a word
        for k in (n, len(losses)):
            means[k] = [of.masked_mean(*pair) for pair in zip(np.split(losses, k), np.split(lengths, k))]
    return any(of.same(o, np.mean(of_parts)) for of_parts in means.values()) or of.same(o, np.sum(means[n]))


def own_maximum(o: Observed) -> bool:
    """Whether each device subtracted its own maximum, and the sums were added up as if it had been one maximum."""
    (x,) = o.inputs
    blocks = np.split(x.astype(np.float64), dict(o.case.axes)["x"], axis=1)
    e = np.concatenate([np.exp(block - block.max(1, keepdims=True)) for block in blocks], 1)
    return of.same(o, e / e.sum(1, keepdims=True))


def summed_logarithms(o: Observed) -> bool:
    """Whether the devices' own results were added up, or averaged."""
    blocks = np.split(o.inputs[0].astype(np.float64), dict(o.case.axes)["x"], axis=1)
    total = sum(map(of.logsumexp, blocks))
    return of.same(o, total) or of.same(o, total / len(blocks))


def local_columns(o: Observed) -> bool:
    """Whether the values are right, and columns are counted from the start of a block."""
    values, columns = of.best(o.inputs[0])
    width = o.inputs[0].shape[1] // dict(o.case.axes)["x"]
    return of.same(o, values) and of.same(o, columns % width, 1)


def down_columns(o: Observed) -> bool:
    """Whether the largest of each column are there, of whole columns or of each device's rows."""
    scores = o.inputs[0]
    blocks = np.split(scores, dict(o.case.axes)["x"])
    found = [of.best(scores.T)[0], of.best(scores.T)[0].T, np.concatenate([of.best(rows.T)[0].T for rows in blocks])]
    return any(of.same(o, largest) for largest in found)


def candidates(o: Observed) -> list[np.ndarray]:
    """The best of each device's columns, best first."""
    return [of.best(block)[0] for block in np.split(o.inputs[0], dict(o.case.axes)["x"], axis=1)]


def places_of_candidates(o: Observed) -> bool:
    """Whether the values are right, and columns are counted among all devices' candidates."""
    values, places = of.best(np.concatenate(candidates(o), 1))
    return of.same(o, values) and of.same(o, places, 1)


def place_by_place(o: Observed) -> bool:
    """Whether all devices' best were compared with each other, and all second best."""
    return of.same(o, np.max(candidates(o), axis=0))


def by_columns(o: Observed) -> bool:
    """Whether each block was reduced over its rows, and then over y."""
    x = o.inputs[0].astype(np.float64)
    rows, columns = dict(o.case.axes)["x"], dict(o.case.axes)["y"]
    blocks = x.reshape(rows, len(x) // rows, columns, -1)
    centred = blocks - blocks.mean((1, 2), keepdims=True)
    return of.same(o, (centred / np.sqrt((centred**2).mean((1, 2), keepdims=True))).reshape(x.shape))


def mean_of_spreads(o: Observed) -> bool:
    """Whether rows were divided by the mean of their blocks' own standard deviations."""
    x = o.inputs[0].astype(np.float64)
    spread = x.reshape(len(x), dict(o.case.axes)["y"], -1).std(2).mean(1, keepdims=True)
    return of.same(o, (x - x.mean(1, keepdims=True)) / spread)


def own_mean(o: Observed) -> bool:
    """Whether each block's own mean was subtracted, and what is left divided by its spread in the row, or the row's."""
    x, n = o.inputs[0].astype(np.float64), devices(o, "y")
    blocks = x.reshape(len(x), n, -1)
    left = blocks - blocks.mean(2, keepdims=True)
    spreads = (np.sqrt((left**2).mean((1, 2), keepdims=True)), x.std(1)[:, None, None])
    return any(of.same(o, (left / spread).reshape(x.shape)) for spread in spreads)


def sums_as_means(o: Observed) -> bool:
    """Whether means over a row were sums of the blocks' means."""
    x, n = o.inputs[0].astype(np.float64), dict(o.case.axes)["y"]
    centred = x - n * x.mean(1, keepdims=True)
    return of.same(o, centred / np.sqrt(n * (centred**2).mean(1, keepdims=True)))


def softmax_over_devices(o: Observed) -> bool:
    """Whether each place of a block was set against the same place of the other devices' blocks."""
    x = o.inputs[0].astype(np.float64)
    return of.same(o, of.softmax(x.reshape(len(x), dict(o.case.axes)["x"], -1)).reshape(x.shape))


def gathers(o: Observed, whole: bool) -> bool:
    """Whether something is gathered: as much as a block has, or only what blocks were reduced to."""
    block = o.inputs[0].nbytes // math.prod(size for _, size in o.case.axes)
    return any(c.kind == "all-gather" and (c.payload_bytes > block) == whole for c in o.collectives)


def whole_blocks(o: Observed) -> bool:
    """Whether an all-reduce adds up as many bytes as a block has."""
    block = o.inputs[0].nbytes // math.prod(size for _, size in o.case.axes)
    return any(c.kind == "all-reduce" and c.payload_bytes >= block for c in o.collectives)


def finite(o: Observed) -> bool:
    """Whether all values are numbers."""
    return all(np.isfinite(block).all() for _, _, block in o.shards[0])


def scaled(o: Observed, oracle: Callable[..., np.ndarray]) -> bool:
    """Whether all is as many times too large, or too small, as there are devices along x."""
    right = oracle(*(x.astype(np.float64) if x.dtype.kind == "f" else x for x in o.inputs))
    return any(of.same(o, factor * right) for factor in (devices(o), 1 / devices(o)))


def own_counts(o: Observed) -> bool:
    """Whether each device divided the sum of all words' losses by the number of its own words."""
    losses, lengths = o.inputs
    counts = [part.sum() for part in np.split(lengths, devices(o))]
    total = of.masked_mean(losses, lengths) * lengths.sum()
    with np.errstate(divide="ignore"):
        return each(o, lambda d: np.asarray(total / counts[d]))


def nothing_as_one(o: Observed) -> bool:
    """Whether a device without a word counted as one word."""
    losses, lengths = o.inputs
    counts = [part.sum() for part in np.split(lengths, devices(o))]
    total = of.masked_mean(losses.astype(np.float64), lengths) * lengths.sum()
    wrong, right = total / np.maximum(counts, 1).sum(), total / np.sum(counts)
    return 0 in counts and _nearer(o, wrong, right)


def last_word_too(o: Observed) -> bool:
    """Whether every sentence had a word more than it has."""
    losses, lengths = o.inputs[0].astype(np.float64), o.inputs[1]
    wrong, right = of.masked_mean(losses, lengths + 1), of.masked_mean(losses, lengths)
    return of.same(o, wrong) and _nearer(o, wrong, right)


def _nearer(o: Observed, wrong: Any, right: Any) -> bool:
    """Whether every device's values are five times as near to the wrong ones as to the right ones."""
    return all(5 * np.abs(block - wrong).max() < np.abs(block - right).max() for *_, block in o.shards[0])


def logarithm_of_mean(o: Observed) -> bool:
    """Whether the sum was divided by the devices before its logarithm was taken."""
    return of.same(o, of.logsumexp(o.inputs[0].astype(np.float64)) - np.log(devices(o)))


def overflows(o: Observed, subtracted: Means) -> bool:
    """Whether exactly those values are no numbers which are none in float32 after this was subtracted."""
    (x,) = o.inputs
    with np.errstate(all="ignore"):
        m = np.float32(subtracted(x))
        e = np.exp(x - m)
        total = e.sum(1, keepdims=True)
        made = e / total if of.shape(o) == x.shape else (np.log(total) + m)[:, 0]
    good = np.isfinite(made)
    return not good.all() and all((np.isfinite(block) == good[index]).all() for _, index, block in o.shards[0])


def sums_a_part(o: Observed) -> bool:
    """Whether exactly those values are no numbers which are none if only a device's columns, or only devices, are summed."""
    (x,) = o.inputs
    e = np.exp(x - x.max(1, keepdims=True))
    e[e < np.finfo(x.dtype).tiny] = 0  # as on XLA for CPU
    blocks = np.split(e, devices(o), axis=1)
    own, across = [block.sum(1, keepdims=True) for block in blocks], np.sum(blocks, 0)
    if of.shape(o) != x.shape:
        apart, added = [total[:, 0] > 0 for total in own], np.all(own, 0)[:, 0]
        return not np.all(own) and (_finite_where(o, apart) or _finite_where(o, [added] * len(own)))
    return any(
        not np.all(totals) and _finite_where(o, [np.broadcast_to(t > 0, b.shape) for t, b in zip(totals, blocks)])
        for totals in (own, [across] * len(blocks))
    )


def _finite_where(o: Observed, good: list[np.ndarray]) -> bool:
    """Whether the devices' values are numbers exactly where these are true, for each place along x."""
    return all(np.array_equal(np.isfinite(block), good[place]) for place, block in _by_place(o))


def one_maximum(x: np.ndarray) -> np.ndarray:
    """The largest entry of all rows."""
    return np.full((len(x), 1), x.max())


def row_means(x: np.ndarray) -> np.ndarray:
    """The mean of each row."""
    return np.asarray(x.mean(1, keepdims=True))


def mixed_rows(o: Observed) -> bool:
    """Whether means were taken over x too: over the rows in the same place of their blocks, or over everything."""
    x = o.inputs[0].astype(np.float64)
    blocks = x.reshape(devices(o), -1, x.shape[1])
    together = (blocks - blocks.mean((0, 2), keepdims=True)) / blocks.std((0, 2), keepdims=True)
    return of.same(o, together.reshape(x.shape)) or of.same(o, (x - x.mean()) / x.std())


def normalized_by(o: Observed, spread: Callable[[np.ndarray, int], np.ndarray]) -> bool:
    """Whether each row is centred, and divided by this function of its blocks [rows, devices, columns] and their number."""
    x, n = o.inputs[0].astype(np.float64), devices(o, "y")
    return of.same(o, (x - x.mean(1, keepdims=True)) / spread(x.reshape(len(x), n, -1), n)[:, None])
