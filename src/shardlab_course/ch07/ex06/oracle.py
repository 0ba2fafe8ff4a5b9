"""Chapter 7, exercise 7.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from shardlab_course.ch07.shared import by_place, case, devices, same, shape
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax over dimension 1."""
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def logsumexp(x: np.ndarray) -> np.ndarray:
    """The logarithm of the sum of exponentials of each row."""
    most = x.max(1)
    return np.log(np.exp(x - most[:, None]).sum(1)) + most


def logits_case(mesh: Axes, rows: int, columns: int, out: Spec) -> Case:
    """Logits whose exponentials float32 does not hold, columns over x."""
    return case(mesh, Input((rows, columns), (None, "x"), values=logits), outputs=[out])


def logits(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Rows at levels from -200 to 200; in some one logit towers over the others, in some half of the columns lie
    far below.
    """
    rows, columns = shape
    x = rng.standard_normal(shape) + rng.permutation(np.linspace(-200, 200, rows))[:, None]
    x[1::3, rng.integers(columns)] += 150
    x[2::3, : columns // 2] -= 150
    return np.asarray(x)


SOFTMAX = functools.partial(logits_case, out=(None, "x"))
LOGSUMEXP = functools.partial(logits_case, out=())

Means = Callable[[np.ndarray], np.ndarray]


def own_maximum(o: Observed) -> bool:
    """Whether each device subtracted its own maximum, and the sums were added up as if it had been one maximum."""
    (x,) = o.inputs
    blocks = np.split(x.astype(np.float64), dict(o.case.axes)["x"], axis=1)
    e = np.concatenate([np.exp(block - block.max(1, keepdims=True)) for block in blocks], 1)
    return same(o, e / e.sum(1, keepdims=True))


def summed_logarithms(o: Observed) -> bool:
    """Whether the devices' own results were added up, or averaged."""
    blocks = np.split(o.inputs[0].astype(np.float64), dict(o.case.axes)["x"], axis=1)
    total = sum(map(logsumexp, blocks))
    return same(o, total) or same(o, total / len(blocks))


def softmax_over_devices(o: Observed) -> bool:
    """Whether each place of a block was set against the same place of the other devices' blocks."""
    x = o.inputs[0].astype(np.float64)
    return same(o, softmax(x.reshape(len(x), dict(o.case.axes)["x"], -1)).reshape(x.shape))


def rows_summed(o: Observed) -> bool:
    """Whether exponentials were divided by the sum over rows, and over the same place of the devices' blocks."""
    x = o.inputs[0].astype(np.float64)
    e = np.exp(x - x.max(1, keepdims=True)).reshape(len(x), devices(o), -1)
    return same(o, (e / e.sum((0, 1))).reshape(x.shape))


def counts(o: Observed) -> tuple[int, ...]:
    """By what a mean divides: over devices, over a block's columns, and over both."""
    columns = o.inputs[0].shape[1]
    return devices(o), columns // devices(o), columns


def sum_averaged(o: Observed) -> bool:
    """Whether the sum was divided by one of these counts."""
    return any(same(o, n * softmax(o.inputs[0].astype(np.float64))) for n in counts(o))


def logarithm_of_mean(o: Observed) -> bool:
    """Whether the sum was divided by one of these counts before its logarithm was taken."""
    return any(same(o, logsumexp(o.inputs[0].astype(np.float64)) - np.log(n)) for n in counts(o))


def overflows(o: Observed, subtracted: Means) -> bool:
    """Whether exactly those values are no numbers which are none in float32 after this was subtracted."""
    (x,) = o.inputs
    with np.errstate(all="ignore"):
        m = np.float32(subtracted(x))
        e = np.exp(x - m)
        e[e < np.finfo(x.dtype).tiny] = 0  # as on XLA for CPU
        total = e.sum(1, keepdims=True)
        made = e / total if shape(o) == x.shape else (np.log(total) + m)[:, 0]
    good = np.isfinite(made)
    return not good.all() and all((np.isfinite(block) == good[index]).all() for _, index, block in o.shards[0])


def constant_subtracted(o: Observed) -> bool:
    """Whether values are no numbers where they are none after one constant, or nothing, was subtracted from all logits."""
    return any(overflows(o, functools.partial(_constant, c)) for c in (0, *range(-200, 201, 10)))


def _constant(number: float, x: np.ndarray) -> np.ndarray:
    return np.full((len(x), 1), number)


def sums_a_part(o: Observed) -> bool:
    """Whether exactly those values are no numbers which are none if only a device's columns, or only devices, are summed."""
    (x,) = o.inputs
    e = np.exp(x - x.max(1, keepdims=True))
    e[e < np.finfo(x.dtype).tiny] = 0  # as on XLA for CPU
    blocks = np.split(e, devices(o), axis=1)
    own, across = [block.sum(1, keepdims=True) for block in blocks], np.sum(blocks, 0)
    if shape(o) != x.shape:
        apart, added = [total[:, 0] > 0 for total in own], np.all(own, 0)[:, 0]
        too_large = any(np.isposinf(block).any() for _, block in by_place(o))  # the logarithm of 0 is not
        return not (np.all(own) or too_large) and (_finite_where(o, apart) or _finite_where(o, [added] * len(own)))
    return any(
        not np.all(totals) and _finite_where(o, [np.broadcast_to(t > 0, b.shape) for t, b in zip(totals, blocks)])
        for totals in (own, [across] * len(blocks))
    )


def _finite_where(o: Observed, good: list[np.ndarray]) -> bool:
    """Whether the devices' values are numbers exactly where these are true, for each place along x."""
    return all(np.array_equal(np.isfinite(block), good[place]) for place, block in by_place(o))


def one_maximum(x: np.ndarray) -> np.ndarray:
    """The largest entry of all rows."""
    return np.full((len(x), 1), x.max())


def row_means(x: np.ndarray) -> np.ndarray:
    """The mean of each row."""
    return np.asarray(x.mean(1, keepdims=True))
